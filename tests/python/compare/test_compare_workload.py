# SPDX-License-Identifier: Apache-2.0
"""What users write: sizes, rates, operations, histograms of noise."""

from __future__ import annotations

import pytest
from isthmus import workload
from isthmus.errors import UserError


def test_sizes_are_single_listed_or_doubling() -> None:
    assert workload.parse_sizes(256) == (256,)
    assert workload.parse_sizes("2K") == (2048,)
    assert workload.parse_sizes("64,8,1k,64") == (8, 64, 1024)
    assert workload.parse_sizes("8:4096") == tuple(8 << n for n in range(10))
    assert workload.parse_sizes("8:100") == (8, 16, 32, 64, 100)
    assert workload.parse_sizes("1 MiB") == (1 << 20,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("17", "size: 17 bytes; expected a multiple of 4 from 4 to 1M, for example 16 or 20"),
        ("0", "size: 0 bytes; expected a multiple of 4 from 4 to 1M"),
        ("2M", "size: 2097152 bytes; expected a multiple of 4 from 4 to 1M"),
        ("8:4G", "size: 4294967296 bytes; expected a multiple of 4 from 4 to 1M"),
        ("1e3", "size: '1e3'; expected bytes, for example 256, 2K, 8,64,1K or 8:4K"),
        ("", "size: ''; expected bytes, for example 256, 2K, 8,64,1K or 8:4K"),
        ("-8", "size: '-8'; expected bytes, for example 256, 2K, 8,64,1K or 8:4K"),
        ("²", "size: '²'; expected bytes, for example 256, 2K, 8,64,1K or 8:4K"),
        ("9" * 40, f"size: '{'9' * 32}...'; expected bytes, for example 256, 2K, 8,64,1K or 8:4K"),
        ("4K:8", "size: '4K:8' begins above its end; expected FROM:TO, for example 8:4K"),
        (",".join(str(4 * n) for n in range(1, 40)), "size: 39 sizes; at most 24 are measured in one run"),
    ],
)
def test_a_wrong_size_is_one_line(text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        workload.parse_sizes(text)
    assert str(caught.value) == said


def test_a_wrong_size_names_the_limit_of_the_road_that_asks() -> None:
    with pytest.raises(UserError, match=r"expected a multiple of 4 from 4 to 1472$"):
        workload.parse_sizes("8:100M", 1472)
    assert workload.parse_sizes("2K", 1472) == (2048,), "the road says why it refuses this one"


def test_rates_have_decimal_prefixes() -> None:
    assert [workload.parse_rate(text) for text in ("100k", "1.5M", "250", 10, "2k/s")] == [
        100e3, 1.5e6, 250.0, 10.0, 2000.0,
    ]  # fmt: skip
    for wrong in ("fast", "0", "-1", "nan", "2G", "", "1e400"):
        with pytest.raises(UserError, match="expected requests a second from 1 to 1G, for example 100k"):
            workload.parse_rate(wrong)


@pytest.mark.parametrize("rate", [1.0, 1000.0, 123456.0, 1.5e6])
def test_a_rate_reads_back(rate: float) -> None:
    assert workload.parse_rate(workload.rate_text(rate)) == rate


def test_operations_have_short_names_and_nearest_ones() -> None:
    assert workload.parse_operation("read") == "host-read"
    assert workload.parse_operation("put") == "put"
    with pytest.raises(UserError, match=r"unknown operation 'devise-read'; did you mean 'device-read'\?"):
        workload.parse_operation("devise-read")
    for planned in ("gpu-write",):
        with pytest.raises(UserError, match=f"^no road here carries {planned} yet; choose from host-read, "):
            workload.parse_operation(planned)


def test_a_question_has_a_window_or_a_rate() -> None:
    assert workload.question("read").window == 1
    asked = workload.question("read", rate="100k")
    assert (asked.window, asked.rate_per_s) == (None, 100e3)
    with pytest.raises(UserError, match=r"^--window and --rate exclude each other"):
        workload.question("read", window=1, rate="1k")
    with pytest.raises(UserError, match="window: 0 is outside 1 to 4096"):
        workload.question("read", window=0)
    with pytest.raises(UserError, match="iters: 0 is outside 1 to 1000000"):
        workload.question("read", iterations=0)


def test_without_a_number_large_requests_are_measured_less_often() -> None:
    asked = workload.question("read", "8:1M")
    assert [asked.requests(size) for size in (8, 256, 512, 1024)] == [1000] * 4, "enough for p99"
    assert [asked.requests(size) for size in (2048, 4096, 1 << 20)] == [128, 64, 40]
    assert workload.question("read", iterations=7).requests(1 << 20) == 7


CYCLICTEST = """\
# /dev/cpu_dma_latency set to 0us
policy: fifo: loadavg: 0.00 0.01 0.05 1/200 1234
T: 0 ( 1234) P:80 I:1000 C:  10000 Min:      1 Act:    2 Avg:    2 Max:      45
# Histogram
000000 000000	000000
000001 000007	000002
000002 000090	000030
000003 000003	000000
# Total: 000000100 000000032
# Min Latencies: 00001 00001
# Avg Latencies: 00002 00001
# Max Latencies: 00045 00002
# Histogram Overflows: 00001 00000
# Thread 0: 04567
"""


def test_cyclictest_is_read_with_all_its_threads_and_overflows() -> None:
    noise = workload.parse_noise(CYCLICTEST, "host.hist")
    assert noise.buckets == ((0, 9), (1000, 120), (2000, 3), (44000, 1))
    assert (noise.samples, noise.largest, noise.source) == (133, 44000, "host.hist")
    assert noise.scenario() == {"unit": "ns", "buckets": [[0, 9], [1000, 120], [2000, 3], [44000, 1]]}


def test_the_column_of_sums_of_histofall_counts_nothing_twice() -> None:
    summed = CYCLICTEST
    for row in [line for line in CYCLICTEST.splitlines() if line[:1].isdigit()]:
        summed = summed.replace(row, f"{row}\t{sum(map(int, row.split()[1:])):06d}")
    assert summed != CYCLICTEST
    assert workload.parse_noise(summed).buckets == workload.parse_noise(CYCLICTEST).buckets


def test_two_columns_are_nanoseconds_and_samples() -> None:
    text = "# my measurement\n1500 10\n\n500 3\n9000 0\n"
    assert workload.parse_noise(text).buckets == ((500, 3), (1500, 10))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "h: no histogram in it; expected the output of cyclictest -h"),
        ("# Histogram\n", "h: no histogram in it; expected the output of cyclictest -h"),
        ("500 0\n", "h: all counts are 0; expected a histogram with samples"),
        ("99999999999 1\n", "h: a latency of 99999999999 ns; expected at most 1 s: is the unit ns?"),
        ("1 2 3\n", "h: line 1: 3 columns; expected nanoseconds and samples, or cyclictest's output"),
        ("1.5 2\n", "h: line 1: expected a latency and a count of samples"),
        ("500 -3\n", "h: line 1: expected a latency and a count of samples"),
        ("hello\n", "h: line 1: expected a latency and a count of samples"),
    ],
)
def test_a_wrong_histogram_is_one_line(text: str, said: str) -> None:
    with pytest.raises(UserError) as caught:
        workload.parse_noise(text, "h")
    assert str(caught.value).startswith(said)


def test_crossings_are_where_the_order_changes() -> None:
    one, other = {8: 1.0, 16: 2.0, 32: 9.0, 64: 10.0}, {8: 3.0, 16: 3.0, 32: 3.0, 64: 30.0}
    assert workload.crossings(one, other) == [(32, True), (64, False)]
