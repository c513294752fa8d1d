#!/usr/bin/env python3
"""The HdrHistogram encodings that histogram_v2_test.cc holds, made by PyPI hdrhistogram 0.10.3.

    python3 -m venv V && V/bin/pip install hdrhistogram==0.10.3
    V/bin/python tests/interop/hdr_histogram.py make         name, base64 text, hex of the payload
    V/bin/python tests/interop/hdr_histogram.py check TEXT   count, min, max, p50, p99 of any encoding

The samples are those of `samples()` in the test: the same values in the same order.
"""
import base64
import sys
import zlib

from hdrh.histogram import HdrHistogram

# Name -> (highest trackable value, [(value, count)])
SAMPLES = {
    "empty": (2047, []),
    "small": (2047, [(1, 1), (2, 3), (1000, 5)]),
    "latencies": ((2048 << 13) - 1, [(value * 1000, 1 + value % 7) for value in range(1, 10001, 37)]),
    "wide": ((1 << 62) - 1, [(0, 7), (4096, 1), (123_456_789, 1 << 40), ((1 << 61) + 12345, 2)]),
}


def make():
    for name, (highest, values) in SAMPLES.items():
        histogram = HdrHistogram(1, highest, 3)
        for value, count in values:
            histogram.record_value(value, count)
        text = histogram.encode().decode()
        payload = zlib.decompress(base64.b64decode(text)[8:])
        print(name, text, payload.hex())


def main():
    if sys.argv[1] == "make":
        make()
        return
    histogram = HdrHistogram.decode(sys.argv[2].encode())
    print(histogram.get_total_count(), histogram.get_min_value(), histogram.get_max_value(),
          histogram.get_value_at_percentile(50), histogram.get_value_at_percentile(99))


if __name__ == "__main__":
    main()
