"""What a measurement of tuning says, made up."""

from fewbits.training.tuning import Configuration, Measured


def measured(quality=0.5, n_bytes=8, encode_us=10.0):
    return Measured(
        configuration=Configuration("lsh", 8 * n_bytes),
        n_items=1000,
        quality=quality,
        error=0.01,
        bytes_per_item=n_bytes,
        encode_us=encode_us,
        search_us=1.0,
        fit_seconds=1.0,
        n_constant_bits=0,
    )
