"""cuDNN's BatchNorm, addition and ReLU in one kernel per direction: halves, channels last, C % 4 == 0.

PyTorch has no layer for them, but brings the library. They are the kernels to which OneFlow hands
what tests/bn_dispatch_test.cpp lets pass. The constants are those of cudnn_graph.h and cudnn_ops.h.
"""

import ctypes

from ladder.measured.work import pointer, stream_of

PERSISTENT, ADD_AND_RELU = 2, 2  # CUDNN_BATCHNORM_SPATIAL_PERSISTENT, ..._OPS_BN_ADD_ACTIVATION
CHANNELS_LAST, HALF, RELU, PASS_NAN = 1, 2, 1, 1
ONE, ZERO = map(ctypes.byref, (ctypes.c_float(1), ctypes.c_float(0)))


def library(torch):
    """The one that PyTorch has loaded, or None where it came without."""
    version = torch.backends.cudnn.version()  # 91900, or None.
    return version and ctypes.CDLL(f"libcudnn.so.{version // 10_000}")


class BatchNormAddRelu:
    """Both directions for arrays of one shape, (N, C, H, W); statistics are floats."""

    def __init__(self, torch, cudnn, shape, epsilon, momentum):
        self.cudnn, self.epsilon, self.momentum = cudnn, ctypes.c_double(epsilon), ctypes.c_double(momentum)
        self.rooms = []
        self.handle = self._made("cudnnCreate")
        self._call("cudnnSetStream", stream_of(torch))
        self.array = self._made("cudnnCreateTensorDescriptor")
        self._call("cudnnSetTensor4dDescriptor", self.array, CHANNELS_LAST, HALF, *shape, handle=False)
        self.channel = self._made("cudnnCreateTensorDescriptor")
        self._call("cudnnDeriveBNTensorDescriptor", self.channel, self.array, PERSISTENT, handle=False)
        self.relu = self._made("cudnnCreateActivationDescriptor")
        self._call("cudnnSetActivationDescriptor", self.relu, RELU, PASS_NAN, ctypes.c_double(0), handle=False)

        a, after = self.array, (self.channel, self.relu)
        self.scratch = self._room(torch, max(
            self._size("ForwardTrainingExWorkspaceSize", a, a, a, *after),
            self._size("BackwardExWorkspaceSize", a, a, a, a, a, *after)))
        self.reserve = self._room(torch, self._size("TrainingExReserveSpaceSize", self.relu, a))

    def forward(self, x, addend, y, gamma, beta, running_mean, running_variance, mean, inverse):
        self._call("cudnnBatchNormalizationForwardTrainingEx", PERSISTENT, ADD_AND_RELU, ONE, ZERO,
                   *self._arrays(x, addend, y), self.channel, pointer(gamma), pointer(beta), self.momentum,
                   pointer(running_mean), pointer(running_variance), self.epsilon, pointer(mean),
                   pointer(inverse), self.relu, *self.scratch, *self.reserve)

    def backward(self, x, y, dy, d_addend, dx, gamma, beta, d_gamma, d_beta, mean, inverse):
        self._call("cudnnBatchNormalizationBackwardEx", PERSISTENT, ADD_AND_RELU, ONE, ZERO, ONE, ZERO,
                   *self._arrays(x, y, dy, d_addend, dx), self.channel,
                   *map(pointer, (gamma, beta, d_gamma, d_beta)), self.epsilon, pointer(mean),
                   pointer(inverse), self.relu, *self.scratch, *self.reserve)

    def _call(self, name, *arguments, handle=True):
        status = getattr(self.cudnn, name)(*([self.handle] if handle else []), *arguments)
        if status:
            self.cudnn.cudnnGetErrorString.restype = ctypes.c_char_p
            raise RuntimeError(f"{name}: {self.cudnn.cudnnGetErrorString(status).decode()}")

    def _made(self, name):
        found = ctypes.c_void_p()
        self._call(name, ctypes.byref(found), handle=False)
        return found

    def _size(self, of, *descriptors):
        size = ctypes.c_size_t()
        self._call(f"cudnnGetBatchNormalization{of}", PERSISTENT, ADD_AND_RELU, *descriptors, ctypes.byref(size))
        return size.value

    def _room(self, torch, size):
        """(where, how many bytes)"""
        self.rooms.append(torch.empty(max(1, size), dtype=torch.uint8, device="cuda"))
        return pointer(self.rooms[-1]), ctypes.c_size_t(size)

    def _arrays(self, *arrays):
        """A descriptor and a pointer for each; all have one shape."""
        return [each for array in arrays for each in (self.array, pointer(array))]
