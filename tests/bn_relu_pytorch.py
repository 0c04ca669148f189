"""Records what PyTorch's eager layers make of small images, for the suite beside it.

Run on a GPU, it prints the header of its own name. The suite draws the same input from the same
seeds, so that only results are kept: their bits, in hexadecimal. All numbers that are drawn are multiples of a power of two that even halves can hold.
"""

import itertools
import pathlib

import torch

EPSILON, MOMENTUM = 1e-5, 0.1
SHAPES = [(16, 6, 1, 1), (1, 5, 3, 7), (2, 1, 5, 3), (2, 32, 2, 2), (3, 4, 4, 4)]
ELEMENTS = {"kFloat": torch.float32, "kHalf": torch.float16}
FUSED = [(False, False), (True, False), (True, True)]  # With ReLU, with an addend.
INTEGERS = {torch.float32: torch.int32, torch.float16: torch.int16}
COLUMNS = 72

HEAD = """\
// What PyTorch {torch} ({gpu}) makes of small images:
// the script beside this header wrote it, and says how.
#pragma once

#include <cstdint>

#include "common/{op}.h"

// Bits of floats and elements, eight and four digits each, as they lie in
// memory. d_addend is dy where `passes` has a bit, and 0 elsewhere.
struct OfPyTorch {{
  int64_t images, channels, height, width;
  bool channels_last;
  Element element;
  bool relu, addend;
  const char *y, *running_mean, *running_variance, *inferred;
  const char *dx, *d_gamma, *d_beta, *passes;
}};

// clang-format off
inline const OfPyTorch kOfPyTorch[] = {{"""


class Numbers:
    """Drawn one by one; NumbersOfSeed in the suite is the same."""

    def __init__(self, seed):
        self.state = seed

    def next(self):
        """Of 1,024 whole numbers around 0."""
        self.state = (self.state * 1664525 + 1013904223) % 2 ** 32
        return (self.state >> 22) - 512

    def drawn(self, count, of):
        return torch.tensor([of(self.next()) for _ in range(count)], dtype=torch.float32, device="cuda")


def results(seed, shape, last, kind, relu, has_addend):
    """Each array as it lies in memory."""
    images, channels, height, width = shape
    n, numbers = images * channels * height * width, Numbers(seed)

    def pixels(of):
        drawn = numbers.drawn(n, of).to(kind)
        if last:
            return drawn.view(images, height, width, channels).permute(0, 3, 1, 2)
        return drawn.view(shape)

    x, addend, dy = pixels(lambda k: k / 128 + 1), pixels(lambda k: k / 256), pixels(lambda k: (2 * k + 1) / 512)
    gamma, beta, mean, variance = (numbers.drawn(channels, of) for of in (
        lambda k: k / 256, lambda k: k / 512, lambda k: k / 256, lambda k: (k + 576) / 256))

    def layers(training):
        v = torch.nn.functional.batch_norm(x, mean, variance, gamma, beta, training, MOMENTUM, EPSILON)
        if has_addend:
            v = v + addend
        return torch.relu(v) if relu else v

    inferred = layers(training=False)
    for given in (x, addend, gamma, beta):
        given.requires_grad_()
    y = layers(training=True)
    y.backward(dy)
    passes = y > 0 if relu else torch.ones_like(y, dtype=torch.bool)
    if has_addend:  # Exactly what the record says of it.
        assert torch.equal(addend.grad, torch.where(passes, dy, torch.zeros_like(dy)))

    def in_memory(array):
        return (array.permute(0, 2, 3, 1) if last and array.dim() == 4 else array).detach().reshape(-1)

    return {"y": in_memory(y), "running mean": mean, "running variance": variance,
            "inferred": in_memory(inferred), "dx": in_memory(x.grad), "d_gamma": gamma.grad,
            "d_beta": beta.grad}, in_memory(passes)


def digits(array):
    """Of each element its bits."""
    size = array.element_size()
    return "".join(f"{bits % 2 ** (8 * size):0{2 * size}x}" for bits in array.view(INTEGERS[array.dtype]).tolist())


def words(passes):
    """Bit i % 32 of word i / 32, as in the mask."""
    bits = passes.tolist()
    found = [sum(one << k for k, one in enumerate(bits[i:i + 32])) for i in range(0, len(bits), 32)]
    return "".join(f"{word:08x}" for word in found)


def literal(text):
    return "\n".join(f'     "{text[k:k + COLUMNS]}"' for k in range(0, len(text), COLUMNS))


def main():
    print(HEAD.format(torch=torch.__version__.partition("+")[0], gpu=torch.cuda.get_device_name(),
                      op=pathlib.Path(__file__).stem.removesuffix("_pytorch")))
    of = itertools.product(SHAPES, (False, True), ELEMENTS, FUSED)
    for seed, (shape, last, element, (relu, has_addend)) in enumerate(of, 1):
        found, passes = results(seed, shape, last, ELEMENTS[element], relu, has_addend)
        flags = [str(flag).lower() for flag in (last, relu, has_addend)]
        texts = [literal(digits(array)) for array in found.values()] + [literal(words(passes))]
        print(f"    {{{', '.join(map(str, shape))}, {flags[0]}, Element::{element}, {flags[1]}, {flags[2]},\n"
              + ",\n".join(texts) + "},")
    print("};\n// clang-format on")


if __name__ == "__main__":
    main()
