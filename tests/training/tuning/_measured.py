"""What a measurement of tuning says, made up."""

from fewbits.training.tuning import Configuration, Measured


def measured(quality=0.5, n_bytes=8, encode_us=10.0, query_us=20.0, scan_us=0.0):
    return Measured(
        configuration=Configuration("lsh", 8 * n_bytes),
        n_items=1000,
        quality=quality,
        error=0.01,
        memory_bytes=n_bytes,
        bytes_per_item=n_bytes,
        encode_us=encode_us,
        search_us=1.0,
        query_us=query_us,
        scan_us=scan_us,
        fit_seconds=1.0,
        n_constant_bits=0,
    )
