import pickle
from pathlib import Path
import pytest
pytestmark = [pytest.mark.real, pytest.mark.timeout(500), pytest.mark.parametrize("on", ["real"], indirect=True, scope="session")]
def test_it(really, simulated):
    Path("/tmp/real.pickle").write_bytes(pickle.dumps(really))
    Path("/tmp/standins.pickle").write_bytes(pickle.dumps(simulated))
