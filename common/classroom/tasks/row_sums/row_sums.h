// The contract of row_sums: the sum of each row of a matrix.
//
//   y[r] = x[r columns] + ... + x[r columns + columns - 1],  0 <= r < rows
//
// The additions are float's, in any order. As long as no sum on the way
// overflows,
//
//   |y[r] - exact sum| <= columns (2^-24 (|x[r columns]| + ...) + 2^-125),
//
// which any order keeps, and what is nearer to 0 than 2^-126 may count as 0. A
// NaN, or infinities of both signs, give NaN, in their own row alone. Rows of
// no columns give 0; no rows are legal, too. y is written, not added to; x is
// never written to. Both are device arrays that do not overlap, and each may
// start at any float. Many short rows may come, fewer than 2^31, or few long
// ones. All of the work is the GPU's and is queued on `stream`, so that a CUDA
// graph can record it; nothing waits for it. What a call takes, such as memory,
// it gives back.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

void row_sums(const float* x, float* y, int64_t rows, int64_t columns,
              cudaStream_t stream);
