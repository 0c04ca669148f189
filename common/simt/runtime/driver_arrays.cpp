// The driver API: arrays, textures and surfaces, which are the runtime's under
// other names, and copies in two and three dimensions.
#include "common/simt/runtime/arrays.h"
#include "common/simt/runtime/driver.h"

namespace simt {
namespace {

cudaArray_t array_behind(CUarray handle) {
  return reinterpret_cast<cudaArray_t>(handle);
}
cudaMipmappedArray_t mipmaps_behind(CUmipmappedArray handle) {
  return reinterpret_cast<cudaMipmappedArray_t>(handle);
}

cudaChannelFormatDesc channels_of(CUarray_format format, unsigned count) {
  demand(count == 1 || count == 2 || count == 4, CUDA_ERROR_INVALID_VALUE,
         count, " channels; there may be 1, 2 or 4");
  const auto all = [count](int bits, cudaChannelFormatKind kind) {
    return cudaChannelFormatDesc{bits, count > 1 ? bits : 0,
                                 count > 2 ? bits : 0, count > 2 ? bits : 0,
                                 kind};
  };
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
      return all(8, cudaChannelFormatKindUnsigned);
    case CU_AD_FORMAT_UNSIGNED_INT16:
      return all(16, cudaChannelFormatKindUnsigned);
    case CU_AD_FORMAT_UNSIGNED_INT32:
      return all(32, cudaChannelFormatKindUnsigned);
    case CU_AD_FORMAT_SIGNED_INT8:
      return all(8, cudaChannelFormatKindSigned);
    case CU_AD_FORMAT_SIGNED_INT16:
      return all(16, cudaChannelFormatKindSigned);
    case CU_AD_FORMAT_SIGNED_INT32:
      return all(32, cudaChannelFormatKindSigned);
    case CU_AD_FORMAT_HALF:
      return all(16, cudaChannelFormatKindFloat);
    case CU_AD_FORMAT_FLOAT:
      return all(32, cudaChannelFormatKindFloat);
    default:
      constexpr int kOthers = 0x30;  // of several planes, compressed, ...
      demand(int(format) >= kOthers, CUDA_ERROR_INVALID_VALUE,
             "there is no format ", int(format));
      throw Lacking{text("texels of the format ", int(format))};
  }
}

CUarray_format format_of(const cudaChannelFormatDesc& c) {
  if (c.f == cudaChannelFormatKindFloat)
    return c.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
  const int bytes = c.x / 8;  // The formats are 1, 2, 3; and 8, 9, 10.
  const int size = bytes == 4 ? 2 : bytes - 1;
  return static_cast<CUarray_format>((c.f == cudaChannelFormatKindUnsigned
                                          ? CU_AD_FORMAT_UNSIGNED_INT8
                                          : CU_AD_FORMAT_SIGNED_INT8) +
                                     size);
}

CUDA_ARRAY3D_DESCRIPTOR describe(CUarray handle) {
  const Array array = array_of(array_behind(handle));
  return {array.extent.width,        array.extent.height,  array.extent.depth,
          format_of(array.channels), array.image.channels, array.flags};
}

// ---- Textures ---------------------------------------------------------------

cudaResourceDesc resource_behind(const CUDA_RESOURCE_DESC* given) {
  demand(given != nullptr && given->flags == 0, CUDA_ERROR_INVALID_VALUE,
         "pResDesc is null, or its flags are not 0");
  cudaResourceDesc to = {};
  to.resType = static_cast<cudaResourceType>(given->resType);
  const auto& from = given->res;
  switch (given->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      to.res.array.array = array_behind(from.array.hArray);
      break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      to.res.mipmap.mipmap = mipmaps_behind(from.mipmap.hMipmappedArray);
      break;
    case CU_RESOURCE_TYPE_LINEAR:
      to.res.linear = {pointer(from.linear.devPtr),
                       channels_of(from.linear.format, from.linear.numChannels),
                       from.linear.sizeInBytes};
      break;
    case CU_RESOURCE_TYPE_PITCH2D:
      to.res.pitch2D = {
          pointer(from.pitch2D.devPtr),
          channels_of(from.pitch2D.format, from.pitch2D.numChannels),
          from.pitch2D.width, from.pitch2D.height, from.pitch2D.pitchInBytes};
      break;
    default:
      demand(false, CUDA_ERROR_INVALID_VALUE, "a resource of the type ",
             int(given->resType));
  }
  return to;
}

cudaChannelFormatDesc channels_of(const cudaResourceDesc& resource) {
  switch (resource.resType) {
    case cudaResourceTypeLinear:
      return resource.res.linear.desc;
    case cudaResourceTypePitch2D:
      return resource.res.pitch2D.desc;
    case cudaResourceTypeMipmappedArray: {
      cudaArray_t first;
      pass(cudaGetMipmappedArrayLevel(&first, resource.res.mipmap.mipmap, 0));
      return array_of(first).channels;
    }
    default:
      return array_of(resource.res.array.array).channels;
  }
}

// The driver reads small integers as fractions if nobody says otherwise.
cudaTextureDesc texture_behind(const CUDA_TEXTURE_DESC* from,
                               const cudaChannelFormatDesc& channels) {
  demand(from != nullptr, CUDA_ERROR_INVALID_VALUE, "pTexDesc is null");
  const bool as_fractions = channels.f != cudaChannelFormatKindFloat &&
                            channels.x < 32 &&
                            !(from->flags & CU_TRSF_READ_AS_INTEGER);
  cudaTextureDesc to = {};
  for (int k = 0; k < 3; ++k)
    to.addressMode[k] =
        static_cast<cudaTextureAddressMode>(from->addressMode[k]);
  to.filterMode = static_cast<cudaTextureFilterMode>(from->filterMode);
  to.readMode =
      as_fractions ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  to.sRGB = (from->flags & CU_TRSF_SRGB) != 0;
  to.normalizedCoords = (from->flags & CU_TRSF_NORMALIZED_COORDINATES) != 0;
  to.maxAnisotropy = from->maxAnisotropy;
  to.mipmapFilterMode =
      static_cast<cudaTextureFilterMode>(from->mipmapFilterMode);
  to.mipmapLevelBias = from->mipmapLevelBias;
  to.minMipmapLevelClamp = from->minMipmapLevelClamp;
  to.maxMipmapLevelClamp = from->maxMipmapLevelClamp;
  std::copy_n(from->borderColor, 4, to.borderColor);
  return to;
}

// ---- Copies -----------------------------------------------------------------

// One end of a copy of a box; `x` is in bytes, and a pitch of 0 is the width.
struct BoxEnd {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  size_t pitch, height, x, y, z;
};

cudaPitchedPtr memory_of(BoxEnd& at, const cudaExtent& box) {
  switch (at.type) {
    case CU_MEMORYTYPE_ARRAY: {
      demand(at.array != nullptr, CUDA_ERROR_INVALID_VALUE,
             "the array is null");
      const Image image = array_of(array_behind(at.array)).image;
      demand(at.x + box.width <= image.pitch &&
                 at.y + box.height <= image.height &&
                 at.z + box.depth <= image.depth,
             CUDA_ERROR_INVALID_VALUE, "the box leaves the array");
      return {pointer(image.address), image.pitch, image.pitch, image.height};
    }
    case CU_MEMORYTYPE_HOST:
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED: {
      const size_t pitch = at.pitch ? at.pitch : box.width;
      demand(at.type != CU_MEMORYTYPE_DEVICE || allocations().find(at.device),
             CUDA_ERROR_INVALID_VALUE, pointer(at.device), " is ",
             allocations().describe(at.device));
      void* const first = at.type == CU_MEMORYTYPE_HOST
                              ? const_cast<void*>(at.host)
                              : pointer(at.device);
      const size_t rows = box.depth > 1 ? box.height : at.y + box.height;
      return {first, pitch, pitch, at.height ? at.height : rows};
    }
    default:
      throw Refused{cudaErrorInvalidValue,
                    text("memory of the type ", int(at.type))};
  }
}

// A null `stream`: the call returns when it is done.
void copy_box(const cudaExtent& box, BoxEnd from, BoxEnd to,
              const CUstream* stream) {
  cudaMemcpy3DParms p = {};
  p.extent = box;
  p.kind = cudaMemcpyDefault;
  const auto copy = [&] {
    pass(stream ? cudaMemcpy3DAsync(&p, *stream) : cudaMemcpy3D(&p));
  };
  if (is_empty(box)) return copy();
  p.srcPtr = memory_of(from, box);
  p.srcPos = {from.x, from.y, from.z};
  p.dstPtr = memory_of(to, box);
  p.dstPos = {to.x, to.y, to.z};
  copy();
}

void copy_rows(const CUDA_MEMCPY2D* given, const CUstream* stream) {
  demand(given != nullptr, CUDA_ERROR_INVALID_VALUE, "pCopy is null");
  const CUDA_MEMCPY2D& c = *given;
  copy_box({c.WidthInBytes, c.Height, 1},
           {c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcPitch, 0,
            c.srcXInBytes, c.srcY, 0},
           {c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstPitch, 0,
            c.dstXInBytes, c.dstY, 0},
           stream);
}

// Of CUDA_MEMCPY3D, and of what names contexts, too: an address knows its own.
template <class Copy>
void copy_boxes(const Copy* given, const CUstream* stream) {
  demand(given != nullptr, CUDA_ERROR_INVALID_VALUE, "pCopy is null");
  const Copy& c = *given;
  copy_box({c.WidthInBytes, c.Height, c.Depth},
           {c.srcMemoryType, c.srcHost, c.srcDevice, c.srcArray, c.srcPitch,
            c.srcHeight, c.srcXInBytes, c.srcY, c.srcZ},
           {c.dstMemoryType, c.dstHost, c.dstDevice, c.dstArray, c.dstPitch,
            c.dstHeight, c.dstXInBytes, c.dstY, c.dstZ},
           stream);
}

// The byte of a line: of other arrays a GPU refuses it.
BoxEnd end_in(CUarray array, size_t byte) {
  demand(array_of(array_behind(array)).image.dimensions == 1,
         CUDA_ERROR_INVALID_VALUE, "the array has rows: use cuMemcpy2D");
  return {CU_MEMORYTYPE_ARRAY, nullptr, 0, array, 0, 0, byte, 0, 0};
}
BoxEnd end_at(CUdeviceptr address) {
  return {CU_MEMORYTYPE_UNIFIED, nullptr, address, nullptr, 0, 0, 0, 0, 0};
}
BoxEnd end_at(const void* address) {
  return end_at(reinterpret_cast<CUdeviceptr>(address));
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" {

// ---- Arrays -----------------------------------------------------------------

CUresult cuArray3DCreate(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* d) {
  return drive([&] {
    demand(array && d, CUDA_ERROR_INVALID_VALUE,
           "pHandle or pAllocateArray is null");
    const auto channels = channels_of(d->Format, d->NumChannels);
    pass(cudaMalloc3DArray(reinterpret_cast<cudaArray_t*>(array), &channels,
                           {d->Width, d->Height, d->Depth}, d->Flags));
  });
}
CUresult cuArrayCreate(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* d) {
  return drive([&] {
    demand(array && d, CUDA_ERROR_INVALID_VALUE,
           "pHandle or pAllocateArray is null");
    const auto channels = channels_of(d->Format, d->NumChannels);
    pass(cudaMallocArray(reinterpret_cast<cudaArray_t*>(array), &channels,
                         d->Width, d->Height, 0));
  });
}
CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray array) {
  return drive([&] {
    demand(out != nullptr, CUDA_ERROR_INVALID_VALUE,
           "pArrayDescriptor is null");
    *out = describe(array);
  });
}
CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR* out, CUarray array) {
  return drive([&] {
    demand(out != nullptr, CUDA_ERROR_INVALID_VALUE,
           "pArrayDescriptor is null");
    const CUDA_ARRAY3D_DESCRIPTOR all = describe(array);
    *out = {all.Width, all.Height, all.Format, all.NumChannels};
  });
}
CUresult cuArrayDestroy(CUarray array) {
  return drive([&] {
    array_of(array_behind(array));  // null is none
    pass(cudaFreeArray(array_behind(array)));
  });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* array,
                                const CUDA_ARRAY3D_DESCRIPTOR* d,
                                unsigned levels) {
  return drive([&] {
    demand(array && d, CUDA_ERROR_INVALID_VALUE,
           "pHandle or pMipmappedArrayDesc is null");
    const auto channels = channels_of(d->Format, d->NumChannels);
    pass(cudaMallocMipmappedArray(
        reinterpret_cast<cudaMipmappedArray_t*>(array), &channels,
        {d->Width, d->Height, d->Depth}, levels, d->Flags));
  });
}
CUresult cuMipmappedArrayGetLevel(CUarray* level, CUmipmappedArray array,
                                  unsigned number) {
  return drive([&] {
    pass(cudaGetMipmappedArrayLevel(reinterpret_cast<cudaArray_t*>(level),
                                    mipmaps_behind(array), number));
  });
}
CUresult cuMipmappedArrayDestroy(CUmipmappedArray array) {
  return drive([&] { pass(cudaFreeMipmappedArray(mipmaps_behind(array))); });
}

// ---- Textures and surfaces --------------------------------------------------

CUresult cuTexObjectCreate(CUtexObject* object,
                           const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* texture,
                           const CUDA_RESOURCE_VIEW_DESC* view) {
  return drive([&] {
    if (view) throw Lacking{"views of resources"};
    const cudaResourceDesc what = resource_behind(resource);
    const cudaTextureDesc how = texture_behind(texture, channels_of(what));
    pass(cudaCreateTextureObject(object, &what, &how, nullptr));
  });
}
CUresult cuTexObjectDestroy(CUtexObject object) {
  return drive([&] { pass(cudaDestroyTextureObject(object)); });
}
CUresult cuSurfObjectCreate(CUsurfObject* object,
                            const CUDA_RESOURCE_DESC* resource) {
  return drive([&] {
    const cudaResourceDesc what = resource_behind(resource);
    pass(cudaCreateSurfaceObject(object, &what));
  });
}
CUresult cuSurfObjectDestroy(CUsurfObject object) {
  return drive([&] { pass(cudaDestroySurfaceObject(object)); });
}

// ---- Copies -----------------------------------------------------------------

CUresult cuMemcpy2D(const CUDA_MEMCPY2D* copy) {
  return drive([&] { copy_rows(copy, nullptr); });
}
CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D* copy) {
  return drive([&] { copy_rows(copy, nullptr); });
}
CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return drive([&] { copy_rows(copy, &stream); });
}
CUresult cuMemcpy3D(const CUDA_MEMCPY3D* copy) {
  return drive([&] { copy_boxes(copy, nullptr); });
}
CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return drive([&] { copy_boxes(copy, &stream); });
}
CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  return drive([&] { copy_boxes(copy, nullptr); });
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  return drive([&] { copy_boxes(copy, &stream); });
}

CUresult cuMemcpyHtoA(CUarray to, size_t byte, const void* from, size_t bytes) {
  return drive([&] {
    copy_box({bytes, 1, 1}, end_at(from), end_in(to, byte), nullptr);
  });
}
CUresult cuMemcpyHtoAAsync(CUarray to, size_t byte, const void* from,
                           size_t bytes, CUstream stream) {
  return drive([&] {
    copy_box({bytes, 1, 1}, end_at(from), end_in(to, byte), &stream);
  });
}
CUresult cuMemcpyDtoA(CUarray to, size_t byte, CUdeviceptr from, size_t bytes) {
  return drive([&] {
    copy_box({bytes, 1, 1}, end_at(from), end_in(to, byte), nullptr);
  });
}
CUresult cuMemcpyAtoH(void* to, CUarray from, size_t byte, size_t bytes) {
  return drive([&] {
    copy_box({bytes, 1, 1}, end_in(from, byte), end_at(to), nullptr);
  });
}
CUresult cuMemcpyAtoHAsync(void* to, CUarray from, size_t byte, size_t bytes,
                           CUstream stream) {
  return drive([&] {
    copy_box({bytes, 1, 1}, end_in(from, byte), end_at(to), &stream);
  });
}
CUresult cuMemcpyAtoD(CUdeviceptr to, CUarray from, size_t byte, size_t bytes) {
  return drive([&] {
    copy_box({bytes, 1, 1}, end_in(from, byte), end_at(to), nullptr);
  });
}

}  // extern "C"
