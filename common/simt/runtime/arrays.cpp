// CUDA arrays: making and freeing them, and copies to and from them. Their rows
// lie one behind the other, without gaps.
#include "common/simt/runtime/arrays.h"

#include "common/simt/core/device.h"

namespace simt {
namespace {

Handles<cudaArray_t, Array>& arrays() {
  static auto* all = new Handles<cudaArray_t, Array>;
  return *all;
}

// Its levels are arrays of their own.
using Levels = std::vector<cudaArray_t>;
Handles<cudaMipmappedArray_t, Levels>& mipmapped() {
  static auto* all = new Handles<cudaMipmappedArray_t, Levels>;
  return *all;
}

constexpr unsigned kOwnFlags = cudaArrayLayered | cudaArraySurfaceLoadStore |
                               cudaArrayCubemap | cudaArrayTextureGather;
constexpr size_t kFaces = 6;

void require_most(const char* what, size_t size, cudaDeviceAttr most) {
  const auto limit = attribute(model_device(), most);
  require(!limit || size <= size_t(*limit), cudaErrorInvalidValue, what, " of ",
          size, " texels; at most ", limit.value_or(0));
}

void require_texels(const cudaExtent& e, bool layered) {
  require(e.width != 0 && (layered || e.depth == 0 || e.height != 0),
          cudaErrorInvalidValue, "an array of ", e.width, " x ", e.height,
          " x ", e.depth, " texels");
  require(!layered || e.depth != 0, cudaErrorInvalidValue, "no layers");
}

void require_size(const cudaExtent& e, bool layered) {
  if (layered)
    require_most("layers", e.depth, cudaDevAttrMaxTexture2DLayeredLayers);
  if (e.depth != 0 && !layered) {
    require_most("a width", e.width, cudaDevAttrMaxTexture3DWidth);
    require_most("a height", e.height, cudaDevAttrMaxTexture3DHeight);
    require_most("a depth", e.depth, cudaDevAttrMaxTexture3DDepth);
  } else if (e.height != 0) {
    require_most("a width", e.width, cudaDevAttrMaxTexture2DWidth);
    require_most("a height", e.height, cudaDevAttrMaxTexture2DHeight);
  } else {
    require_most("a width", e.width, cudaDevAttrMaxTexture1DWidth);
  }
}

void require_cube(const cudaExtent& e, bool layered) {
  require(e.width == e.height && e.depth % kFaces == 0 &&
              (layered || e.depth == kFaces),
          cudaErrorInvalidValue, "a cube of ", e.depth, " faces of ", e.width,
          " x ", e.height, " texels");
  require_most("faces", e.width, cudaDevAttrMaxTextureCubemapWidth);
}

Array make(const cudaChannelFormatDesc* channels, cudaExtent extent,
           unsigned flags, const char* name = "cudaMallocArray") {
  require(channels != nullptr, cudaErrorInvalidValue, "desc is null");
  constexpr unsigned kKnown = kOwnFlags | cudaArrayColorAttachment |
                              cudaArraySparse | cudaArrayDeferredMapping;
  const bool layered = flags & cudaArrayLayered;
  const bool cube = flags & cudaArrayCubemap;
  require_texels(extent, layered || cube);
  require_safe();
  if (cube) require_cube(extent, layered);
  Array array{{}, *channels, extent, flags};
  Image& image = array.image;
  set_channels(image, *channels);
  require((flags & ~kKnown) == 0, cudaErrorInvalidValue, "unknown flags ",
          flags);
  if (flags & ~kOwnFlags) throw Lacking{text("array of the flags ", flags)};
  require_size(extent, layered || cube);
  require((flags & cudaArrayTextureGather) == 0 ||
              (extent.height != 0 && extent.depth == 0),
          cudaErrorInvalidValue,
          "texels are gathered in arrays of two dimensions");
  image.width = unsigned(extent.width);
  image.height = unsigned(std::max<size_t>(extent.height, 1));
  image.depth = unsigned(std::max<size_t>(extent.depth, 1));
  image.layered = layered;
  image.cube = cube;
  image.dimensions = extent.depth != 0 && !layered && !cube ? 3
                     : extent.height != 0                   ? 2
                                                            : 1;
  image.pitch = uint64_t{image.width} * image.texel_bytes();
  image.slice = image.pitch * image.height;
  image.address = reinterpret_cast<uint64_t>(
      allocate(image.slice * image.depth, Memory::kDevice, name));
  return array;
}

// Half as large along each axis, but for layers and faces.
cudaExtent halved(cudaExtent e, unsigned flags) {
  const auto half = [](size_t n) { return n ? std::max<size_t>(n / 2, 1) : 0; };
  const bool fixed = flags & (cudaArrayLayered | cudaArrayCubemap);
  return {half(e.width), half(e.height), fixed ? e.depth : half(e.depth)};
}

Levels make_levels(const cudaChannelFormatDesc* channels, cudaExtent extent,
                   unsigned count, unsigned flags) {
  require(count != 0, cudaErrorInvalidValue, "no levels");
  Levels levels;
  for (;;) {
    Array level = make(channels, extent, flags, "cudaMallocMipmappedArray");
    level.is_level = true;
    levels.push_back(arrays().create(level));
    const cudaExtent next = halved(extent, flags);
    const bool last = next.width == extent.width &&
                      next.height == extent.height &&
                      next.depth == extent.depth;
    if (last || levels.size() == count) return levels;
    extent = next;
  }
}

[[noreturn]] void refuse_kind(const char* why) {
  throw Refused{cudaErrorInvalidValue, why};
}

Levels levels_behind(cudaMipmappedArray_const_t handle) {
  const auto found = mipmapped().find(const_cast<cudaMipmappedArray_t>(handle));
  require(found.has_value(), cudaErrorInvalidResourceHandle,
          "this is no mipmapped array, or no longer");
  return *found;
}

void free_array(cudaArray_t array) {
  const uint64_t address = array_of(array).image.address;
  await_device(allocations().find(address)->device);
  arrays().destroy(array);
  allocations().release(address);
}

void* place(const Array& array, size_t x_bytes, size_t y) {
  const Image& image = array.image;
  require(x_bytes < image.pitch && y < image.height, cudaErrorInvalidValue,
          "byte ", x_bytes, " of row ", y, " is not in the array");
  return reinterpret_cast<void*>(image.address + y * image.pitch + x_bytes);
}

void require_box(const Array& array, size_t x_bytes, size_t y, size_t width,
                 size_t height) {
  const Image& image = array.image;
  require(x_bytes <= image.pitch && width <= image.pitch - x_bytes &&
              y <= image.height && height <= image.height - y,
          cudaErrorInvalidValue, height, " rows of ", width,
          " bytes from byte ", x_bytes, " of row ", y, " on leave an array of ",
          image.height, " rows of ", image.pitch);
}

Work to_array(cudaArray_t handle, size_t x, size_t y, const void* from,
              size_t pitch, size_t width, size_t height, cudaMemcpyKind kind) {
  if (width == 0 || height == 0) return nothing(cudaGraphNodeTypeMemcpy);
  require_rows(pitch, width, height);
  require_device_side(sides_of(kind).to);
  const Array array = array_of(handle);
  require_box(array, x, y, width, height);
  return copy_2d_work(place(array, x, y), array.image.pitch, from, pitch, width,
                      height, kind);
}

Work from_array(void* to, size_t pitch, cudaArray_const_t handle, size_t x,
                size_t y, size_t width, size_t height, cudaMemcpyKind kind) {
  if (width == 0 || height == 0) return nothing(cudaGraphNodeTypeMemcpy);
  require_rows(pitch, width, height);
  require_device_side(sides_of(kind).from);
  const Array array = array_of(handle);
  require_box(array, x, y, width, height);
  return copy_2d_work(to, pitch, place(array, x, y), array.image.pitch, width,
                      height, kind);
}

// Bytes that go on from row to row.
Work run_to(cudaArray_t handle, size_t x, size_t y, const void* from,
            size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return nothing(cudaGraphNodeTypeMemcpy);
  require_device_side(sides_of(kind).to);
  return copy_work(place(array_of(handle), x, y), from, bytes, kind);
}
Work run_from(void* to, cudaArray_const_t handle, size_t x, size_t y,
              size_t bytes, cudaMemcpyKind kind) {
  if (bytes == 0) return nothing(cudaGraphNodeTypeMemcpy);
  require_device_side(sides_of(kind).from);
  return copy_work(to, place(array_of(handle), x, y), bytes, kind);
}

// One end of a copy of a box, which may be an array.
struct End {
  cudaArray_t array;
  cudaPos& at;
  cudaPitchedPtr& memory;
  const char* name;
};

// The bytes of a texel, or 0 where it is memory, which has room for a box of
// those as far as it tells.
size_t texel_of(const End& end, const cudaExtent& extent) {
  require((end.array == nullptr) != (end.memory.ptr == nullptr),
          cudaErrorInvalidValue, end.name,
          " must be an array or memory, and one of them");
  if (end.array) return array_of(end.array).image.texel_bytes();
  const auto& memory = end.memory;
  require_rows(memory.pitch, extent.width,
               std::max(extent.height, extent.depth));
  require(extent.depth <= 1 || extent.height <= memory.ysize,
          cudaErrorInvalidPitchValue, end.name, ": ", extent.height,
          " rows do not fit slices of ", memory.ysize);
  return 0;
}

// Makes memory of an array.
void open_end(const End& end, const cudaExtent& extent) {
  if (end.array == nullptr) return;
  const Array array = array_of(end.array);
  const Image& image = array.image;
  require(end.at.x <= image.width && extent.width <= image.width - end.at.x &&
              end.at.y <= image.height &&
              extent.height <= image.height - end.at.y &&
              end.at.z <= image.depth && extent.depth <= image.depth - end.at.z,
          cudaErrorInvalidValue, end.name, ": the box leaves the array");
  end.memory = {reinterpret_cast<void*>(image.address), image.pitch,
                image.pitch, image.height};
  end.at.x *= image.texel_bytes();
}

}  // namespace

Array array_of(cudaArray_const_t handle) {
  const auto found = arrays().find(const_cast<cudaArray_t>(handle));
  require(found.has_value(), cudaErrorInvalidResourceHandle,
          "this is no CUDA array, or no longer");
  return *found;
}

std::vector<Image> levels_of(cudaMipmappedArray_const_t handle) {
  std::vector<Image> images;
  for (cudaArray_t level : levels_behind(handle))
    images.push_back(array_of(level).image);
  return images;
}

void set_channels(Image& image, const cudaChannelFormatDesc& c) {
  const int bits[4] = {c.x, c.y, c.z, c.w};
  int count = 0;
  while (count < 4 && bits[count] != 0) ++count;
  for (int k = 0; k < 4; ++k)
    require(bits[k] == (k < count ? c.x : 0) && count != 0 && count != 3,
            cudaErrorInvalidChannelDescriptor, "channels of ", c.x, ", ", c.y,
            ", ", c.z, " and ", c.w, " bits");
  switch (c.f) {
    case cudaChannelFormatKindSigned:
      image.kind = 's';
      break;
    case cudaChannelFormatKindUnsigned:
      image.kind = 'u';
      break;
    case cudaChannelFormatKindFloat:
      image.kind = 'f';
      break;
    default:
      throw Lacking{text("texels of the channel format ", int(c.f))};
  }
  require(c.x == 32 || c.x == 16 || (c.x == 8 && image.kind != 'f'),
          cudaErrorInvalidChannelDescriptor, "channels of ", c.x, " bits");
  image.channels = uint8_t(count);
  image.channel_bytes = uint8_t(c.x / 8);
}

cudaMemcpy3DParms without_arrays(cudaMemcpy3DParms p) {
  const End source{p.srcArray, p.srcPos, p.srcPtr, "src"};
  const End target{p.dstArray, p.dstPos, p.dstPtr, "dst"};
  const size_t from = texel_of(source, p.extent),
               to = texel_of(target, p.extent);
  for (const End& end : {source, target}) open_end(end, p.extent);
  require(from == 0 || to == 0 || from == to, cudaErrorInvalidValue,
          "texels of ", from, " and of ", to, " bytes");
  p.srcArray = p.dstArray = nullptr;
  // Texels, at the end that is memory, too (seen on an H100).
  if (const size_t texel = std::max(from, to)) {
    p.extent.width *= texel;
    if (from == 0) p.srcPos.x *= texel;
    if (to == 0) p.dstPos.x *= texel;
  }
  return p;
}

}  // namespace simt

using namespace simt;

extern "C" {

cudaError_t cudaMallocArray(cudaArray_t* array,
                            const cudaChannelFormatDesc* channels, size_t width,
                            size_t height, unsigned flags) {
  return answer([&] {
    require(array != nullptr, cudaErrorInvalidValue, "array is null");
    *array = arrays().create(make(channels, {width, height, 0}, flags));
  });
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array,
                              const cudaChannelFormatDesc* channels,
                              cudaExtent extent, unsigned flags) {
  return answer([&] {
    require(array != nullptr, cudaErrorInvalidValue, "array is null");
    *array = arrays().create(make(channels, extent, flags));
  });
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  return answer([&] {
    if (array == nullptr) return;
    require_safe();
    require(!array_of(array).is_level, cudaErrorInvalidValue,
            "it is a level of a mipmapped array, which frees it");
    free_array(array);
  });
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array,
                                     const cudaChannelFormatDesc* channels,
                                     cudaExtent extent, unsigned levels,
                                     unsigned flags) {
  return answer([&] {
    require(array != nullptr, cudaErrorInvalidValue, "mipmappedArray is null");
    *array = mipmapped().create(make_levels(channels, extent, levels, flags));
  });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level,
                                       cudaMipmappedArray_const_t array,
                                       unsigned number) {
  return answer([&] {
    require(level != nullptr, cudaErrorInvalidValue, "levelArray is null");
    const Levels levels = levels_behind(array);
    require(number < levels.size(), cudaErrorInvalidValue, "level ", number,
            " of ", levels.size());
    *level = levels[number];
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  return answer([&] {
    if (array == nullptr) return;
    require_safe();
    for (cudaArray_t level : levels_behind(array)) free_array(level);
    mipmapped().destroy(array);
  });
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* channels,
                             cudaExtent* extent, unsigned* flags,
                             cudaArray_t handle) {
  return answer([&] {
    const Array array = array_of(handle);
    if (channels) *channels = array.channels;
    if (extent) *extent = array.extent;
    if (flags) *flags = array.flags;
  });
}

// No array has several planes, is sparse or is mapped later: those are refused
// when they are made, and CUDA's answer for all others is an error.
cudaError_t cudaArrayGetPlane(cudaArray_t*, cudaArray_t array, unsigned) {
  return answer([&] {
    array_of(array);
    refuse_kind("the array has a single plane");
  });
}

cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties*,
                                         cudaArray_t array) {
  return answer([&] {
    array_of(array);
    refuse_kind("the array was not made with cudaArraySparse");
  });
}

cudaError_t cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties*,
                                                  cudaMipmappedArray_t array) {
  return answer([&] {
    levels_behind(array);
    refuse_kind("the array was not made with cudaArraySparse");
  });
}

cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements*,
                                           cudaArray_t array, int) {
  return answer([&] {
    array_of(array);
    refuse_kind("the array was not made with cudaArrayDeferredMapping");
  });
}

cudaError_t cudaMipmappedArrayGetMemoryRequirements(
    cudaArrayMemoryRequirements*, cudaMipmappedArray_t array, int) {
  return answer([&] {
    levels_behind(array);
    refuse_kind("the array was not made with cudaArrayDeferredMapping");
  });
}

cudaError_t cudaGetChannelDesc(cudaChannelFormatDesc* channels,
                               cudaArray_const_t array) {
  return answer([&] {
    require(channels != nullptr, cudaErrorInvalidValue, "desc is null");
    *channels = array_of(array).channels;
  });
}

// ---- Copies -----------------------------------------------------------------

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y,
                                const void* from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind kind) {
  return answer(
      [&] { run_now(to_array(to, x, y, from, pitch, width, height, kind)); });
}

cudaError_t cudaMemcpy2DToArrayAsync(cudaArray_t to, size_t x, size_t y,
                                     const void* from, size_t pitch,
                                     size_t width, size_t height,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return answer([&] {
    issue(stream, to_array(to, x, y, from, pitch, width, height, kind));
  });
}

cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch,
                                  cudaArray_const_t from, size_t x, size_t y,
                                  size_t width, size_t height,
                                  cudaMemcpyKind kind) {
  return answer(
      [&] { run_now(from_array(to, pitch, from, x, y, width, height, kind)); });
}

cudaError_t cudaMemcpy2DFromArrayAsync(void* to, size_t pitch,
                                       cudaArray_const_t from, size_t x,
                                       size_t y, size_t width, size_t height,
                                       cudaMemcpyKind kind,
                                       cudaStream_t stream) {
  return answer([&] {
    issue(stream, from_array(to, pitch, from, x, y, width, height, kind));
  });
}

cudaError_t cudaMemcpy2DArrayToArray(cudaArray_t to, size_t x, size_t y,
                                     cudaArray_const_t from, size_t from_x,
                                     size_t from_y, size_t width, size_t height,
                                     cudaMemcpyKind kind) {
  return answer([&] {
    const Array source = array_of(from);
    require_box(source, from_x, from_y, width, height);
    run_now(to_array(to, x, y, place(source, from_x, from_y),
                     source.image.pitch, width, height, kind));
  });
}

cudaError_t cudaMemcpyToArray(cudaArray_t to, size_t x, size_t y,
                              const void* from, size_t bytes,
                              cudaMemcpyKind kind) {
  return answer([&] { run_now(run_to(to, x, y, from, bytes, kind)); });
}

cudaError_t cudaMemcpyToArrayAsync(cudaArray_t to, size_t x, size_t y,
                                   const void* from, size_t bytes,
                                   cudaMemcpyKind kind, cudaStream_t stream) {
  return answer([&] { issue(stream, run_to(to, x, y, from, bytes, kind)); });
}

cudaError_t cudaMemcpyFromArray(void* to, cudaArray_const_t from, size_t x,
                                size_t y, size_t bytes, cudaMemcpyKind kind) {
  return answer([&] { run_now(run_from(to, from, x, y, bytes, kind)); });
}

cudaError_t cudaMemcpyArrayToArray(cudaArray_t to, size_t x, size_t y,
                                   cudaArray_const_t from, size_t from_x,
                                   size_t from_y, size_t bytes,
                                   cudaMemcpyKind kind) {
  return answer([&] {
    const void* const source = place(array_of(from), from_x, from_y);
    run_now(run_to(to, x, y, source, bytes, kind));
  });
}

cudaError_t cudaMemcpyFromArrayAsync(void* to, cudaArray_const_t from, size_t x,
                                     size_t y, size_t bytes,
                                     cudaMemcpyKind kind, cudaStream_t stream) {
  return answer([&] { issue(stream, run_from(to, from, x, y, bytes, kind)); });
}

}  // extern "C"
