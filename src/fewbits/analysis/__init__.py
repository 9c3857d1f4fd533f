"""Numbers about codes: their bits, names, trees and bounds."""
