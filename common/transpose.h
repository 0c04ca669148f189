// The contract of transpose: rows become columns.
//
//   y[c rows + r] = x[r columns + c]     for 0 <= r < rows, 0 <= c < columns
//
// Every element keeps its bits, those of a NaN too. x and y hold rows * columns
// elements, row by row. They are device arrays that do not overlap; each may
// start at any element. Any numbers of rows and columns may come, 0 and 1 among
// them, and more than a grid has blocks in its second dimension. x is never
// written to, and nothing outside of y is. All of the work is the GPU's and is
// queued on `stream`, so that a CUDA graph can record it; nothing waits for it.
// What a call takes, such as memory, it gives back.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

#include <cstdint>

void transpose(const float* x, float* y, int64_t rows, int64_t columns,
               cudaStream_t stream);

void transpose_half(const __half* x, __half* y, int64_t rows, int64_t columns,
                    cudaStream_t stream);
