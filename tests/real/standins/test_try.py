import pickle
import pytest
pytestmark = [pytest.mark.real, pytest.mark.timeout(400), pytest.mark.parametrize("on", ["real"], indirect=True, scope="session")]
def test_it(really, simulated):
    pickle.dump(really, open("/tmp/real.pickle","wb"))
    pickle.dump(simulated, open("/tmp/standins.pickle","wb"))
