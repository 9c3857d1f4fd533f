"""Xia, He, Kohli and Sun, CVPR 2015: sparse projections."""
