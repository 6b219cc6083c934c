from pathlib import Path

import pytest

from rackwright.capacity.calibration import calibrate
from rackwright.capacity.verification import verify

CALIBRATION = Path(__file__).resolve().parents[1] / "fixtures" / "capacity" / "vllm_calibration.csv"


@pytest.fixture(scope="session")
def calibration_file():
    return CALIBRATION


@pytest.fixture(scope="session")
def calibration():
    """Constants fitted on the published runs, with errors on models and GPUs held out."""
    return calibrate(CALIBRATION)


@pytest.fixture(scope="session")
def verification():
    """Every published run, reckoned with the constants in the tree."""
    return verify(CALIBRATION)
