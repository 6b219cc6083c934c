"""The constants: found again from what they make, and judged on models and GPUs that they were not fitted on."""

import pytest

from rackwright.capacity.calibration import calibrate
from rackwright.capacity.constants import CONSTANTS, fitted
from rackwright.capacity.fitting import Observation, fit, observe, predicted
from rackwright.capacity.measurements import Measurement, read_measurements
from rackwright.errors import Refusal


def pooled(parts, time):
    return sum(getattr(part, time).mean * part.ttft.rows for part in parts) / sum(part.ttft.rows for part in parts)


@pytest.mark.parametrize("held_out", ["by_model", "by_gpu"])
def test_errors_on_what_was_held_out_are_within_the_targets(calibration, held_out):
    parts = getattr(calibration, held_out)
    assert sum(part.ttft.rows for part in parts) == calibration.rows
    assert pooled(parts, "tpot") <= 0.12
    assert pooled(parts, "ttft") <= 0.20
    assert max(part.tpot.p90 for part in parts) <= 0.25
    assert max(part.tpot.mean for part in parts) <= 0.12


def test_the_constants_in_the_tree_are_those_of_the_published_runs(calibration):
    assert fitted().values == pytest.approx(calibration.constants.values, rel=1e-3)


def test_constants_are_found_again_from_what_they_make(calibration_file):
    rows = [row for row in read_measurements(calibration_file)[::3] if isinstance(row, Measurement)]
    observations = [found for row in rows if (found := observe(row))]
    true = tuple(each.prior * factor for each, factor in zip(CONSTANTS, (1.05, 0.95, 1.1) * 5, strict=False))
    made = []
    for each in observations:
        ttft, tpot = predicted(each, true)
        row = Measurement(**{**vars(each.row), "ttft_ms": ttft, "tpot_ms": tpot})
        made.append(Observation(row, each.first, each.further))
    found = fit(made)
    for each in made:
        ttft, tpot = predicted(each, found.values)
        assert ttft == pytest.approx(each.row.ttft_ms, rel=0.05)
        assert tpot == pytest.approx(each.row.tpot_ms, rel=0.03)


def test_one_wild_row_does_not_move_the_constants(calibration_file):
    rows = [row for row in read_measurements(calibration_file)[::4] if isinstance(row, Measurement)]
    observations = [found for row in rows if row.concurrency < 512 and (found := observe(row))]
    wild = Measurement(**{**vars(observations[0].row), "ttft_ms": 1e5, "tpot_ms": 900.0})
    moved = fit([Observation(wild, observations[0].first, observations[0].further), *observations[1:]])
    assert moved["kernel"] == pytest.approx(fit(observations)["kernel"], rel=0.05)


def test_too_few_rows_are_refused(tmp_path, calibration_file):
    file = tmp_path / "few.csv"
    file.write_text("\n".join(calibration_file.read_text().splitlines()[:12]))
    with pytest.raises(Refusal, match="has 11 rows that say something about speed"):
        calibrate(file)
