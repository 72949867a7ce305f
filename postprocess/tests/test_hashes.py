import numpy as np

from sluice_post.hashes import byte_hash, byte_hashes, field_hash, values_hash


def test_hashes_equal_those_of_sluice():
    """Numbers from io/files/hashes.cpp, and from a file that `sluice run` wrote."""
    field = np.arange(6.0).reshape(1, 2, 3)
    assert field_hash(field) == 16316683425084788335
    assert field_hash(field.astype(np.float32)) == 12684541217437498943
    assert byte_hash(7, b"hello, wall") == 1368354321078675620
    assert byte_hash(0, np.array([2, 2, 3]).tobytes()) == 13793019200916324460
    parameters = {
        "flow.forcing.bulk_velocity": "1",
        "flow.reynolds.viscosity": "0.00035714285714285714",
        "flow.type": "channel",
        "walls.bottom.type": "no_slip",
        "walls.bottom.velocity": "[0, 0, 0]",
        "walls.top.type": "no_slip",
        "walls.top.velocity": "[0, 0, 0]",
    }
    assert values_hash(parameters) == 11211415287771345183


def test_hashes_of_many_texts_are_those_of_each() -> None:
    texts = [b"", b"1", b"12345678", b"123456789", b"1,0.155,2.5e-15" * 9, b"\xff" * 31]
    assert byte_hashes(texts).tolist() == [byte_hash(0, text) for text in texts]
    assert byte_hashes([]).tolist() == []
