"""Linear algebra in the later spelling."""

from mindspore.mint._faces import attribute_of, read_faces

FACES = read_faces("""
    inv = ops.inverse
    matrix_norm = ops.matrix_norm axis=dim keepdims=keepdim
    norm = ops.norm
    qr = ops.qr
    vector_norm = ops.vector_norm
""")


class _Nothing:
    __all__: tuple[str, ...] = ()


__all__ = sorted(FACES)
__getattr__ = attribute_of(FACES, __name__, _Nothing)
