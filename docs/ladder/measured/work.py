"""How an operation is done beside the chapters: by PyTorch and by Triton, for peers.py.

plots/<op>_peers.py has a class Peers of each, a Work with a Triton `kernel`.
"""

import ctypes
import importlib
import sys
import types

try:
    import triton
    import triton.language as tl
except ImportError:  # Their kernels can be read without.
    triton, tl = types.SimpleNamespace(jit=lambda kernel: kernel), types.SimpleNamespace(constexpr=None)

BLOCK = 4096  # Elements of a block of Triton's.


def of(op):
    """The Peers of an operation, or None."""
    name = f"plots.{op}_peers"
    try:
        return importlib.import_module(name).Peers
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return None


class Work:
    """The arrays of one operation at one size, `slots` times over.

    Whatever can do it is a function of a slot that returns the result.
    """

    bytes_per_element = 8  # What must move, each operand once.
    kind = "float32"
    allowed = 0  # How far a result may be off PyTorch's.
    series = ""  # Of the contract's, what is timed; '': what the ladder shows.

    def __init__(self, torch, n, cache):
        self.torch, self.n = torch, n
        self.bytes = int(self.bytes_per_element * n)
        self.slots = max(2, -(-4 * cache // self.bytes))
        self.x = self.arrays(n)
        self.y = [torch.empty_like(x) for x in self.x]
        self.kept = [None] * self.slots  # Else PyTorch's next result would come to lie there.
        words = self.bytes // 2 // self.x[0].element_size()
        self.source, self.target = self.arrays(words), self.arrays(words)

    def arrays(self, n):
        kind = getattr(self.torch, self.kind)
        return [self.torch.randn(n, dtype=kind, device="cuda") for _ in range(self.slots)]

    def copy(self, slot):
        return self.target[slot].copy_(self.source[slot])

    def read(self, library):
        """A function of a slot that reads as many bytes and writes none."""
        floats = self.bytes // 4
        arrays = [self.torch.rand(floats, device="cuda") for _ in range(self.slots)]
        stream = ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream)

        def called(slot):
            x = pointer(arrays[slot])
            library._Z18launch_read_kernelPKflPfP11CUstream_st(
                x, ctypes.c_int64(floats), x, stream)
        return called

    def pytorch(self, slot):
        self.kept[slot] = self.of(self.x[slot])
        return self.kept[slot]

    def triton(self, slot):
        blocks = triton.cdiv(self.n, BLOCK)
        self.kernel[(blocks,)](*self.inputs(slot), self.y[slot], self.n, block=BLOCK)
        return self.y[slot]

    def inputs(self, slot):
        return (self.x[slot],)

    def chapter(self, library):
        """A function of a slot that calls the chapter's."""
        call = getattr(library, self.symbol)
        call.restype = None
        stream = ctypes.c_void_p(self.torch.cuda.current_stream().cuda_stream)

        def called(slot):
            call(*self.arguments(slot, library), stream)
            return self.y[slot]
        return called

    def arguments(self, slot, _):
        return (*map(pointer, self.inputs(slot)), pointer(self.y[slot]), ctypes.c_int64(self.n))

    def check(self, by, got):
        """Stops unless slot 0's result is PyTorch's, or as close as allowed."""
        worst = (got.double() - self.pytorch(0).double()).abs().max().item()
        if not worst <= self.allowed:
            sys.exit(f"peers: {by} of {self.n:,} elements is off by {worst}; nothing "
                     "is timed that is wrong")


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())
