// Texture and surface objects: what a program says of them, checked as CUDA
// checks it, becomes an image that kernels can ask for by its number.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>

#include "common/simt/core/device.h"
#include "common/simt/core/half.h"
#include "common/simt/runtime/arrays.h"

namespace simt {
namespace {

// In bytes: where images begin, and rows of plain memory.
constexpr uint64_t kImageAlignment = 512, kRowAlignment = 32;

// What was asked for, to be told again.
struct Described {
  cudaResourceDesc resource;
  cudaTextureDesc texture;
};
class Descriptions {
 public:
  void add(uint64_t number, const Described& d) {
    const std::lock_guard lock(mutex_);
    all_[number] = d;
  }
  Described of(uint64_t number) const {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(number);
    require(found != all_.end(), cudaErrorInvalidValue, number,
            " is no object, or no longer");
    return found->second;
  }
  void remove(uint64_t number) {
    const std::lock_guard lock(mutex_);
    all_.erase(number);
  }

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, Described> all_;
};
Descriptions& descriptions() {
  static auto* all = new Descriptions;
  return *all;
}

// Memory for `bytes` of an image.
void set_memory(Image& image, const void* pointer, uint64_t bytes) {
  image.address = reinterpret_cast<uint64_t>(pointer);
  const auto found = allocations().find(image.address);
  require(found && !found->freed && bytes <= found->end - image.address,
          cudaErrorInvalidValue, "devPtr = ", pointer, " is ",
          allocations().describe(image.address), "; ", bytes,
          " bytes from there are wanted");
  // A GPU's arrays begin at multiples of that; ours do not all.
  require((image.address - found->begin) % kImageAlignment == 0,
          cudaErrorInvalidValue, "devPtr = ", pointer, " is ",
          allocations().describe(image.address), ", and no multiple of ",
          kImageAlignment, " bytes from its beginning");
}

// Before anybody looks where the texels are. Returns what is known of them.
Image image_before_memory(const cudaResourceDesc& d) {
  Image image;
  switch (d.resType) {
    case cudaResourceTypeArray:
      image = array_of(d.res.array.array).image;
      break;
    case cudaResourceTypeMipmappedArray:
      image = levels_of(d.res.mipmap.mipmap).front();
      break;
    case cudaResourceTypeLinear:
      set_channels(image, d.res.linear.desc);
      break;
    case cudaResourceTypePitch2D:
      set_channels(image, d.res.pitch2D.desc);
      break;
    default:
      throw Lacking{"textures of that resource"};
  }
  return image;
}

Image image_of(const cudaResourceDesc& d) {
  Image image = image_before_memory(d);
  switch (d.resType) {
    case cudaResourceTypeLinear: {
      const auto& linear = d.res.linear;
      const uint64_t texels = linear.sizeInBytes / image.texel_bytes();
      require(texels != 0 && texels <= 1u << 28, cudaErrorInvalidValue, texels,
              " texels; at most ", 1u << 28);
      set_memory(image, linear.devPtr, linear.sizeInBytes);
      image.width = unsigned(texels);
      image.linear = true;
      return image;
    }
    case cudaResourceTypePitch2D: {
      const auto& rows = d.res.pitch2D;
      const uint64_t row = rows.width * image.texel_bytes();
      require(rows.width != 0 && rows.height != 0 &&
                  rows.pitchInBytes % kRowAlignment == 0 &&
                  row <= rows.pitchInBytes,
              cudaErrorInvalidValue, rows.height, " rows of ", row,
              " bytes with a pitch of ", rows.pitchInBytes,
              ", which should be a multiple of ", kRowAlignment);
      set_memory(image, rows.devPtr,
                 (rows.height - 1) * rows.pitchInBytes + row);
      image.width = unsigned(rows.width);
      image.height = unsigned(rows.height);
      image.pitch = rows.pitchInBytes;
      image.dimensions = 2;
      return image;
    }
    default:
      return image;
  }
}

void set_levels(Texture& t, const cudaResourceDesc& resource,
                const cudaTextureDesc& d) {
  t.levels = levels_of(resource.res.mipmap.mipmap);
  t.mixes_levels = d.mipmapFilterMode == cudaFilterModeLinear;
  t.anisotropic = d.maxAnisotropy > 1;
  t.least_level = std::max(d.minMipmapLevelClamp, 0.f);
  t.most_level = std::max(d.maxMipmapLevelClamp, t.least_level);
  t.level_bias = d.mipmapLevelBias;
}

void require_read_mode(const Image& image, cudaTextureReadMode mode) {
  require(mode != cudaReadModeNormalizedFloat || image.channel_bytes != 4,
          cudaErrorInvalidNormSetting,
          "texels of 32 bits cannot be read as normalised floats");
}

// As a fraction of the largest integer. How a GPU rounds is nowhere told.
uint32_t fraction_of(const Image& image, float x) {
  const bool is_signed = image.kind == 's';
  const auto most =
      static_cast<float>((1 << (8 * image.channel_bytes - is_signed)) - 1);
  const float wanted =
      std::isnan(x) ? 0 : most * std::clamp(x, is_signed ? -1.f : 0.f, 1.f);
  const float nearest = std::round(wanted);
  if (std::fabs(wanted - nearest) > 0.25f)
    throw Lacking{"border whose colour lies between two that texels can have"};
  return static_cast<uint32_t>(static_cast<int32_t>(nearest));
}

// A channel of the border's colour, as a texel's. To integers that are read as
// such, the bits of the float are the colour, and the last ones count.
uint32_t border_of(const Texture& t, float x) {
  constexpr float kMost = 65504;  // of halves
  if (t.as_floats) return fraction_of(t.image, x);
  return t.image.kind == 'f' && t.image.channel_bytes == 2
             ? Half::narrow(
                   Half::cut(std::isinf(x) ? x : std::clamp(x, -kMost, kMost)))
             : std::bit_cast<uint32_t>(x);
}

bool has_border(const cudaTextureDesc& d) {
  return std::count(d.addressMode, d.addressMode + 3, cudaAddressModeBorder) !=
         0;
}

Texture texture_of(const cudaResourceDesc& resource, const cudaTextureDesc& d) {
  const Image known = image_before_memory(resource);
  const bool is_memory = known.address == 0;  // Nobody has looked where yet.
  if (is_memory) require_read_mode(known, d.readMode);
  require_safe();
  Texture t;
  t.image = image_of(resource);
  if (d.sRGB) throw Lacking{"textures in sRGB"};
  for (int k = 0; k < 3; ++k) {
    require(d.addressMode[k] >= 0 && d.addressMode[k] <= 3,
            cudaErrorInvalidValue, "the address mode ", int(d.addressMode[k]));
    t.beside[k] = Texture::Beside(d.addressMode[k]);
  }
  const bool integers = t.image.kind != 'f';
  t.filters = d.filterMode == cudaFilterModeLinear && !t.image.linear;
  // A direction has no size: of a cube map nothing depends on that.
  t.normalised = d.normalizedCoords != 0 || t.image.cube;
  t.as_floats = integers && d.readMode == cudaReadModeNormalizedFloat;
  if (has_border(d))
    for (int k = 0; k < 4; ++k) t.border[k] = border_of(t, d.borderColor[k]);
  if (resource.resType == cudaResourceTypeMipmappedArray)
    set_levels(t, resource, d);
  const bool whole = t.image.channel_bytes == 4;
  require(d.filterMode <= cudaFilterModeLinear, cudaErrorInvalidValue,
          "the filter mode ", int(d.filterMode));
  require(
      !(t.filters || t.mixes_levels) || !integers || (t.as_floats && !whole),
      cudaErrorInvalidFilterSetting,
      "a linear filter makes floats, and the texels are read as integers");
  require_read_mode(t.image, d.readMode);
  return t;
}

Texture surface_of(const cudaResourceDesc& resource) {
  image_before_memory(resource);
  require_safe();
  require(resource.resType == cudaResourceTypeArray, cudaErrorInvalidValue,
          "a surface is an array's");
  const Array array = array_of(resource.res.array.array);
  if ((array.flags & cudaArraySurfaceLoadStore) == 0)
    say("note: CUDA promises surfaces only of arrays that were made with "
        "cudaArraySurfaceLoadStore");
  Texture t;
  t.image = array.image;
  t.surface = true;
  return t;
}

uint64_t create(const Texture& texture, const Described& described) {
  const uint64_t number = images().add(texture);
  descriptions().add(number, described);
  return number;
}

void destroy(uint64_t number) {
  require(images().remove(number), cudaErrorInvalidValue, number,
          " is no object, or no longer");
  descriptions().remove(number);
}

}  // namespace
}  // namespace simt

using namespace simt;

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object,
                                    const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* view) {
  return answer([&] {
    require(object && resource && texture, cudaErrorInvalidValue,
            "pTexObject, pResDesc or pTexDesc is null");
    if (view) throw Lacking{"views of resources"};
    *object = create(texture_of(*resource, *texture), {*resource, *texture});
  });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return answer([&] { destroy(object); });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaTextureObject_t object) {
  return answer([&] {
    require(resource != nullptr, cudaErrorInvalidValue, "pResDesc is null");
    *resource = descriptions().of(object).resource;
  });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* texture,
                                            cudaTextureObject_t object) {
  return answer([&] {
    require(texture != nullptr, cudaErrorInvalidValue, "pTexDesc is null");
    *texture = descriptions().of(object).texture;
  });
}

// Textures with a view of their resource are refused when they are made.
// As an H100 answers, whatever the model.
cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(
    size_t* width, const cudaChannelFormatDesc* channels, int device) {
  return answer([&] {
    require(width != nullptr && channels != nullptr, cudaErrorInvalidValue,
            "maxWidthInElements or fmtDesc is null");
    require_device(device);
    const int bits = channels->x + channels->y + channels->z + channels->w;
    constexpr size_t kTexels = size_t{1} << 30, kBits = size_t{1} << 35;
    require(bits > 0, cudaErrorInvalidValue, "fmtDesc has no bits");
    *width = std::min(kTexels, kBits / bits);
  });
}

// No texture has one, so there is nothing to tell (seen on an H100).
cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* view,
                                                 cudaTextureObject_t object) {
  return answer([&] {
    descriptions().of(object);
    if (view) *view = {};
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object,
                                    const cudaResourceDesc* resource) {
  return answer([&] {
    require(object && resource, cudaErrorInvalidValue,
            "pSurfObject or pResDesc is null");
    *object = create(surface_of(*resource), {*resource, {}});
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return answer([&] { destroy(object); });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* resource,
                                             cudaSurfaceObject_t object) {
  return answer([&] {
    require(resource != nullptr, cudaErrorInvalidValue, "pResDesc is null");
    *resource = descriptions().of(object).resource;
  });
}

}  // extern "C"
