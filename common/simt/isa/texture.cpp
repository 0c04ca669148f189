// Textures and surfaces. What an instruction reads: the handle, then its
// coordinates; of layers, the layer's number comes first.
#include "common/simt/isa/texture.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include "common/simt/core/block.h"
#include "common/simt/core/finding.h"
#include "common/simt/core/half.h"
#include "common/simt/core/lanes.h"
#include "common/simt/isa/filter.h"
#include "common/simt/memory/allocations.h"
#include "common/simt/memory/images.h"
#include "common/simt/observe/observers.h"

namespace simt {
namespace {

// Which images an instruction is for.
struct Geometry {
  int dimensions;
  bool layered;
  bool cube = false;
  bool operator==(const Geometry&) const = default;
};

std::string text_of(Geometry g) {
  return (g.cube ? "cube" : std::to_string(g.dimensions) + "D") +
         (g.layered ? " layered" : "");
}

// ---- Texels -----------------------------------------------------------------

// A place in an image, by texels.
struct Place3 {
  int64_t x = 0, y = 0, z = 0;
};

bool is_inside(const Image& image, Place3 at) {
  return at.x >= 0 && at.x < image.width && at.y >= 0 && at.y < image.height &&
         at.z >= 0 && at.z < image.depth;
}

uint64_t address_of(const Image& image, Place3 at) {
  return image.address + at.z * image.slice + at.y * image.pitch +
         at.x * image.texel_bytes();
}

// A channel's bits, made 32 bits wide; half precision as a float.
uint32_t widened(const Image& image, uint32_t bits) {
  if (image.kind == 'f')
    return image.channel_bytes == 2 ? std::bit_cast<uint32_t>(Half::widen(
                                          static_cast<uint16_t>(bits)))
                                    : bits;
  const int unused = 32 - 8 * image.channel_bytes;
  return image.kind == 's' ? static_cast<uint32_t>(
                                 static_cast<int32_t>(bits << unused) >> unused)
                           : bits << unused >> unused;
}

uint32_t channel_at(const Image& image, Place3 at, int channel) {
  const void* from = allocations().look_at(address_of(image, at) +
                                           channel * image.channel_bytes);
  uint32_t bits = 0;
  std::memcpy(&bits, from, image.channel_bytes);
  return widened(image, bits);
}

// An integer of 8 or 16 bits as a fraction of the largest.
float fraction(const Image& image, uint32_t bits) {
  const int width = 8 * image.channel_bytes;
  if (image.kind == 'u')
    return static_cast<float>(bits) / static_cast<float>((1u << width) - 1);
  const auto value = static_cast<float>(static_cast<int32_t>(bits));
  return std::max(value / static_cast<float>((1u << (width - 1)) - 1), -1.f);
}

// ---- Coordinates ------------------------------------------------------------

// Texels beside each other along an axis, and how much the second counts, of
// 256: as GPUs do it, with 8 bits behind the point.
struct Between {
  int64_t first = 0;
  int second_counts = 0;
};

// Who reads.
struct ImageReader {
  Warp& warp;
  const Instruction& ins;
  int lane;
};

class Sampler {
 public:
  Sampler(const ImageReader& reader, const Texture& texture, const Image& image)
      : reader_(reader), texture_(texture), image_(image) {}

  // From a coordinate to texels along an axis.
  Between between(double coordinate, int axis, bool filters) const {
    const double x = in_texels(coordinate, axis);
    if (!filters) return {static_cast<int64_t>(std::floor(x)), 0};
    const double fixed = std::floor((x - 0.5) * 256 + 0.5);
    const double first = std::floor(fixed / 256);
    return {static_cast<int64_t>(first), static_cast<int>(fixed - 256 * first)};
  }

  // The same for a filter: where the last texel counts for all that is beside
  // the image, it is one texel and not two of the same value.
  Between weighed(double coordinate, int axis) const {
    const Between two = between(coordinate, axis, true);
    if (beside(axis) != Texture::kClamp) return two;
    const int64_t last = extent(axis) - 1;
    if (two.first < 0) return {0, 0};
    return two.first < last ? two : Between{last, 0};
  }

  // Where a texel is read that may lie beside the image; -1: the border.
  int64_t place(int64_t at, int axis) const {
    const int64_t n = extent(axis);
    if (at >= 0 && at < n) return at;
    switch (beside(axis)) {
      case Texture::kWrap:
        return (at % n + n) % n;
      case Texture::kMirror: {
        const int64_t turn = (at % (2 * n) + 2 * n) % (2 * n);
        return std::min(turn, 2 * n - 1 - turn);
      }
      case Texture::kBorder:
        return -1;
      default:
        return std::clamp<int64_t>(at, 0, n - 1);
    }
  }

  bool any_border(Place3 at) const { return at.x < 0 || at.y < 0 || at.z < 0; }

  // A texel is about to be read.
  void touch(Place3 at) const {
    if (!any_border(at))
      observe::texel(reader_.warp, reader_.ins, reader_.lane,
                     address_of(image_, at), image_.texel_bytes());
  }

  // A channel of a texel, as a float.
  float value(Place3 at, int channel) const {
    const uint32_t read = bits(at, channel);
    return image_.kind == 'f' ? std::bit_cast<float>(read)
                              : fraction(image_, read);
  }

  // The same, as it lies there. A border has the channels of the texels.
  uint32_t bits(Place3 at, int channel) const {
    if (channel >= image_.channels) return 0;
    return any_border(at) ? widened(image_, texture_.border[channel])
                          : channel_at(image_, at, channel);
  }

  // The same, as a filter gives it that mixes it with nothing.
  float filtered(Place3 at, int channel) const {
    Texels one;
    one.places[0] = at;
    one.weights[0] = 256;
    return mean_of(one, *this, channel);
  }

  // The weighted mean of up to eight texels.
  void mean(const Between (&at)[3], int64_t layer,
            uint32_t (&result)[4]) const {
    Texels texels;
    add_corners(256, at, layer, texels, 0);
    means_of(texels, *this, result);
  }

  // Of as many texels of the next level, too. That counts so much, of 256.
  void mean_with(const Sampler& next, int counts, const Between (&at)[3],
                 const Between (&at_next)[3], int64_t layer,
                 uint32_t (&result)[4]) const {
    Texels texels;
    add_corners(256 - counts, at, layer, texels, 0);
    next.add_corners(counts, at_next, layer, texels, kCorners);
    means_of(texels, next, result);
  }

 private:
  // What is mixed, and how much of it; of two levels, one behind the other.
  struct Texels {
    Place3 places[kMixed] = {};
    int weights[kMixed] = {};
  };

  void add_corners(int all, const Between (&at)[3], int64_t layer,
                   Texels& texels, int first) const {
    weigh_corners(
        all, {at[0].second_counts, at[1].second_counts, at[2].second_counts},
        texels.weights + first);
    for (int corner = 0; corner < kCorners; ++corner)
      texels.places[first + corner] = {
          place(at[0].first + corner % 2, 0),
          place(at[1].first + corner / 2 % 2, 1),
          image_.dimensions == 3 ? place(at[2].first + corner / 4, 2) : layer};
  }

  // Of each channel. The last eight texels are the second's.
  void means_of(const Texels& texels, const Sampler& second,
                uint32_t (&result)[4]) const {
    for (int k = 0; k < kMixed; ++k)
      if (texels.weights[k])
        (k < kCorners ? *this : second).touch(texels.places[k]);
    for (int c = 0; c < 4; ++c)
      result[c] = c < image_.channels
                      ? std::bit_cast<uint32_t>(mean_of(texels, second, c))
                      : 0;
  }
  float mean_of(const Texels& texels, const Sampler& second,
                int channel) const {
    float floats[kMixed] = {};
    int32_t integers[kMixed] = {};
    for (int k = 0; k < kMixed; ++k) {
      if (texels.weights[k] == 0) continue;
      const Place3 at = texels.places[k];
      const Sampler& of = k < kCorners ? *this : second;
      if (image_.kind == 'f')
        floats[k] = of.value(at, channel);
      else
        integers[k] = static_cast<int32_t>(of.bits(at, channel));
    }
    return image_.kind == 'f'
               ? filter_floats(floats, texels.weights,
                               image_.channel_bytes == 2)
               : filter_fractions(integers, texels.weights,
                                  image_.channel_bytes, image_.kind == 's');
  }
  int64_t extent(int axis) const {
    return axis == 0 ? image_.width : axis == 1 ? image_.height : image_.depth;
  }
  // Only coordinates from 0 to 1 can wrap around.
  Texture::Beside beside(int axis) const {
    const Texture::Beside mode = texture_.beside[axis];
    const bool turns = mode == Texture::kWrap || mode == Texture::kMirror;
    return turns && !texture_.normalised ? Texture::kClamp : mode;
  }
  // What is far outside stays near enough to be counted; what is no number, or
  // too small to be a normal one, is 0. Of a normalised one, as many bits
  // behind the point count as an H100 takes.
  double in_texels(double x, int axis) const {
    constexpr double kFar = 1 << 20;
    if (std::isnan(x) || std::fabs(x) < 0x1p-126) x = 0;
    const auto n = static_cast<double>(extent(axis));
    const Texture::Beside mode = beside(axis);
    if (texture_.normalised) {
      const double unit = n <= 1 << 13   ? 0x1p-21
                          : n <= 1 << 16 ? 0x1p-22
                                         : 0x1p-23;
      x = std::floor(x / unit) * unit;
    }
    if (mode == Texture::kWrap || mode == Texture::kMirror) {
      if (std::isinf(x)) x = 0;
      if (std::fabs(x) > kFar) x -= 2 * std::floor(x / 2);
      return x * n;
    }
    if (texture_.normalised) x *= n;
    return std::clamp(x, -kFar, kFar);
  }

  const ImageReader reader_;
  const Texture& texture_;
  const Image& image_;
};

// ---- What a handle stands for -----------------------------------------------

[[noreturn]] void refuse(Warp& warp, const Instruction& ins, int lane,
                         const std::string& what) {
  fault(warp, ins, lane, "bad image", what, kLaunchFailure);
}

std::shared_ptr<const Texture> image_at(Warp& warp, const Instruction& ins,
                                        int lane, uint64_t handle,
                                        bool surface) {
  auto found = images().find(handle);
  if (!found || found->surface != surface)
    refuse(warp, ins, lane,
           "the number " + std::to_string(handle) + " is no " +
               (surface ? "surface" : "texture") + " object" +
               (found ? ", but one of the other kind" : ", or no longer"));
  const uint64_t address = found->image.address;
  if (const auto memory = allocations().find(address); memory && memory->freed)
    fault(warp, ins, lane, "use after free",
          "the object's image lies in " + allocations().describe(address),
          kIllegalAddress);
  return found;
}

void require_geometry(Warp& warp, const Instruction& ins, int lane,
                      const Image& image, Geometry g) {
  const Geometry there{image.dimensions, image.layered, image.cube};
  if (there == g) return;
  refuse(warp, ins, lane,
         "the instruction is for " + text_of(g) + " images, and this one is " +
             text_of(there));
}

// f(image, lanes) for each object that lanes mean.
void each_image(Warp& warp, const Instruction& ins, uint32_t mask, bool surface,
                const std::function<void(const Texture&, uint32_t)>& f) {
  const uint64_t* handles = lanes<uint64_t>(warp, ins.source(0));
  while (mask) {
    const int lane = first_lane(mask);
    const uint32_t same = lanes_with(handles[lane], handles, mask);
    const auto image = image_at(warp, ins, lane, handles[lane], surface);
    if (!surface) observe::texture(warp, *image);
    f(*image, same);
    mask &= ~same;
  }
}

template <class T>
T coordinate(Warp& warp, const Instruction& ins, int k, int lane) {
  return lanes<T>(warp, ins.source(1 + k))[lane];
}

void write(Warp& warp, const Instruction& ins, int k, int lane, uint32_t bits) {
  if (ins.result(k) == kNowhere) return;
  lanes<uint32_t>(warp, ins.result(k))[lane] = bits;
}

// ---- Textures ---------------------------------------------------------------

// Floats are asked of floats, integers of integers that stay what they are.
void require_type(Warp& warp, const Instruction& ins, int lane,
                  const Texture& texture) {
  const bool floats = texture.image.kind == 'f' || texture.as_floats;
  if (ins.to.is_float() != floats)
    refuse(warp, ins, lane,
           floats ? "the texture's texels are read as floats, and the "
                    "instruction wants integers"
                  : "the texture's texels are integers, and the instruction "
                    "wants floats");
}

// Where a lane reads: along each axis, and in which layer or face.
struct Point {
  double at[3] = {};
  int64_t layer = 0;
};

// The face that a direction meets, and where (CUDA Programming Guide, "Cubemap
// Textures"). On an H100 the quotient is a float, and nothing else is rounded.
Point meet_cube(float x, float y, float z) {
  const float across = std::fabs(x), up = std::fabs(y), along = std::fabs(z);
  const auto at = [](int face, float s, float t, float m) {
    const double right = s / m, down = t / m;
    return Point{{(right + 1) / 2, (down + 1) / 2}, face};
  };
  if (along >= up && along >= across)
    return z >= 0 ? at(4, x, -y, along) : at(5, -x, -y, along);
  if (up >= across) return y >= 0 ? at(2, x, z, up) : at(3, x, -z, up);
  return x >= 0 ? at(0, -z, -y, across) : at(1, z, -y, across);
}

Point point_of(Warp& warp, const Instruction& ins, int lane, const Image& image,
               Geometry g) {
  const auto along = [&](int k) {
    return coordinate<float>(warp, ins, k + g.layered, lane);
  };
  const uint32_t layers = g.cube ? image.depth / 6 : image.depth;
  int64_t layer = 0;
  if (g.layered)
    layer = std::min(coordinate<uint32_t>(warp, ins, 0, lane), layers - 1);
  if (g.cube) {
    Point point = meet_cube(along(0), along(1), along(2));
    point.layer += 6 * layer;
    return point;
  }
  Point point{{}, layer};
  for (int k = 0; k < g.dimensions; ++k) point.at[k] = along(k);
  return point;
}

// How neighbouring faces are mixed no document tells.
void require_one_face(Warp& warp, const Instruction& ins, int lane,
                      const Image& image, const Between& two) {
  if (two.first >= 0 && two.first + (two.second_counts != 0) < image.width)
    return;
  refuse(warp, ins, lane,
         "a filter does not mix texels of two faces of a cube here");
}

// Where a lane reads along each axis. To a filter, a line is an image of one
// row, at whose edge it is; one of several layers is not.
void find_texels(Warp& warp, const Instruction& ins, int lane,
                 const Texture& texture, const Sampler& sampler,
                 const Image& image, const Point& point, Geometry g,
                 Between (&at)[3]) {
  for (int k = 0; k < g.dimensions; ++k) {
    at[k] = texture.filters ? sampler.weighed(point.at[k], k)
                            : sampler.between(point.at[k], k, false);
    if (g.cube && texture.filters)
      require_one_face(warp, ins, lane, image,
                       sampler.between(point.at[k], k, true));
  }
  if (g.dimensions == 1 && !g.layered && texture.filters)
    at[1] = sampler.weighed(0, 1);
}

// From one image: that of a texture, or of a level.
void sample_image(Warp& warp, const Instruction& ins, int lane,
                  const Texture& texture, const Image& image,
                  const Point& point, Geometry g, uint32_t (&result)[4]) {
  const Sampler sampler({warp, ins, lane}, texture, image);
  Between at[3];
  find_texels(warp, ins, lane, texture, sampler, image, point, g, at);
  if ((texture.filters || texture.mixes_levels) && ins.to.is_float())
    return sampler.mean(at, point.layer, result);
  int64_t texel[3] = {0, 0, point.layer};
  for (int k = 0; k < g.dimensions; ++k)
    texel[k] = sampler.place(at[k].first, k);
  const Place3 nearest{texel[0], texel[1], texel[2]};
  sampler.touch(nearest);
  for (int c = 0; c < 4; ++c)
    result[c] = ins.to.is_float()
                    ? std::bit_cast<uint32_t>(sampler.value(nearest, c))
                    : sampler.bits(nearest, c);
}

// ---- Levels -----------------------------------------------------------------

// The level for texels as far apart as the derivatives along two axes of the
// screen say; in 256ths. In three dimensions a GPU reads nearby, and compares.
int level_of(Warp& warp, const Instruction& ins, int lane,
             const Texture& texture, Geometry g, int first) {
  const float extent[3] = {float(texture.image.width),
                           float(texture.image.height),
                           float(texture.image.depth)};
  const int given = (ins.source_count - first) / 2;  // with what is left unused
  double steps[2][3] = {};
  for (int side = 0; side < 2; ++side)
    for (int k = 0; k < g.dimensions; ++k) {
      const Place place = ins.source(first + side * given + k);
      float step = lanes<float>(warp, place)[lane];
      if (g.dimensions == 3) {
        const float at = coordinate<float>(warp, ins, k, lane);
        step = at + step - at;
      }
      steps[side][k] = step * (texture.normalised ? extent[k] : 1.f);
    }
  return level_of_steps(steps[0], steps[1]);
}

// In 256ths, without what is beyond them.
int counts_of(float level) {
  constexpr float kFar = 1 << 10;
  return static_cast<int>(std::clamp(level, -kFar, kFar) * 256);
}

// The level that a lane asks for, in 256ths. It is the first, whatever the
// texture's bias, without derivatives and a number, or if that is not one.
int wanted_level(Warp& warp, const Instruction& ins, int lane,
                 const Texture& texture, Geometry g) {
  const int first = 1 + (g.cube ? 3 : g.dimensions) + g.layered;
  const int more = ins.source_count - first;
  const int last = 256 * static_cast<int>(texture.levels.size() - 1);
  const int least = std::min(counts_of(texture.least_level), last);
  const int most = std::min(counts_of(texture.most_level), last);
  int wanted = counts_of(texture.level_bias);
  if (more == 0) return least;
  if (more == 1) {
    const float level = lanes<float>(warp, ins.source(first))[lane];
    if (std::isnan(level)) return least;
    wanted += counts_of(level);
  } else {
    wanted += level_of(warp, ins, lane, texture, g, first);
  }
  return std::max({std::min(wanted, most), least, 0});
}

// All texels are in one sum.
void filter_levels(Warp& warp, const Instruction& ins, int lane,
                   const Texture& texture, const Point& point, Geometry g,
                   int level, uint32_t (&result)[4]) {
  const Image& near = texture.levels.at(level / 256);
  const Image& far = texture.levels.at(level / 256 + 1);
  const ImageReader reader{warp, ins, lane};
  const Sampler first(reader, texture, near), second(reader, texture, far);
  Between at[3], at_next[3];
  find_texels(warp, ins, lane, texture, first, near, point, g, at);
  find_texels(warp, ins, lane, texture, second, far, point, g, at_next);
  first.mean_with(second, level % 256, at, at_next, point.layer, result);
}

void sample_levels(Warp& warp, const Instruction& ins, int lane,
                   const Texture& texture, const Point& point, Geometry g,
                   uint32_t (&result)[4]) {
  const int level = wanted_level(warp, ins, lane, texture, g);
  const auto from = [&](int number, uint32_t(&to)[4]) {
    sample_image(warp, ins, lane, texture, texture.levels.at(number), point, g,
                 to);
  };
  if (!texture.mixes_levels) return from((level + 128) / 256, result);
  if (level % 256 == 0) return from(level / 256, result);
  filter_levels(warp, ins, lane, texture, point, g, level, result);
}

void sample_lane(Warp& warp, const Instruction& ins, int lane,
                 const Texture& texture, Geometry g) {
  const Point point = point_of(warp, ins, lane, texture.image, g);
  uint32_t result[4];
  if (texture.levels.empty())
    sample_image(warp, ins, lane, texture, texture.image, point, g, result);
  else
    sample_levels(warp, ins, lane, texture, point, g, result);
  for (int c = 0; c < 4; ++c) write(warp, ins, c, lane, result[c]);
}

// What no document tells.
void require_isotropic(Warp& warp, const Instruction& ins, int lane,
                       const Texture& texture) {
  if (texture.anisotropic && ins.statement->has("grad"))
    refuse(warp, ins, lane, "there is no anisotropic filter here");
}

void sample(Warp& warp, const Instruction& ins, uint32_t mask, Geometry g) {
  each_image(warp, ins, mask, false, [&](const Texture& t, uint32_t same) {
    const int first = first_lane(same);
    if (t.image.linear)
      refuse(warp, ins, first,
             "linear memory is read by tex1Dfetch, and not by this");
    require_geometry(warp, ins, first, t.image, g);
    require_type(warp, ins, first, t);
    require_isotropic(warp, ins, first, t);
    for (; same; same &= same - 1)
      sample_lane(warp, ins, first_lane(same), t, g);
  });
}

// Texels by their number; beyond the last one are zeros.
void fetch(Warp& warp, const Instruction& ins, uint32_t mask) {
  each_image(warp, ins, mask, false, [&](const Texture& t, uint32_t same) {
    if (!t.image.linear)
      refuse(warp, ins, first_lane(same),
             "tex1Dfetch reads textures of linear memory, and this one is of "
             "an array");
    require_type(warp, ins, first_lane(same), t);
    for (; same; same &= same - 1) {
      const int l = first_lane(same);
      const Sampler sampler({warp, ins, l}, t, t.image);
      const Place3 at{coordinate<int32_t>(warp, ins, 0, l)};
      if (is_inside(t.image, at)) sampler.touch(at);
      for (int c = 0; c < 4; ++c)
        write(warp, ins, c, l,
              !is_inside(t.image, at) ? 0
              : ins.to.is_float()
                  ? std::bit_cast<uint32_t>(sampler.value(at, c))
                  : sampler.bits(at, c));
    }
  });
}

// One channel of the four texels that a filter would take, by way of the
// filter.
void gather(Warp& warp, const Instruction& ins, uint32_t mask, int channel) {
  constexpr int kX[] = {0, 1, 1, 0}, kY[] = {1, 1, 0, 0};
  each_image(warp, ins, mask, false, [&](const Texture& t, uint32_t same) {
    require_geometry(warp, ins, first_lane(same), t.image, {2, false});
    require_type(warp, ins, first_lane(same), t);
    for (; same; same &= same - 1) {
      const int l = first_lane(same);
      const Sampler sampler({warp, ins, l}, t, t.image);
      const Between x =
          sampler.between(coordinate<float>(warp, ins, 0, l), 0, true);
      const Between y =
          sampler.between(coordinate<float>(warp, ins, 1, l), 1, true);
      for (int k = 0; k < 4; ++k) {
        const Place3 at{sampler.place(x.first + kX[k], 0),
                        sampler.place(y.first + kY[k], 1), 0};
        sampler.touch(at);
        write(warp, ins, k, l,
              ins.to.is_float()
                  ? std::bit_cast<uint32_t>(sampler.filtered(at, channel))
                  : sampler.bits(at, channel));
      }
    }
  });
}

// ---- Surfaces ---------------------------------------------------------------

enum class Outside : uint8_t { kTrap, kClamp, kZero };

// Where a lane accesses a surface: bytes along x, then rows, slices or layers;
// 0: outside, and nothing happens there.
uint64_t surface_place(Warp& warp, const Instruction& ins, int lane,
                       const Image& image, Geometry g, Outside outside) {
  int64_t at[3] = {};
  for (int k = 0; k < g.dimensions; ++k)
    at[k] = coordinate<int32_t>(warp, ins, k + g.layered, lane);
  if (g.layered) at[2] = coordinate<int32_t>(warp, ins, 0, lane);
  const int64_t bytes = ins.element_bytes;
  const int64_t last[3] = {int64_t{image.width} * image.texel_bytes() - bytes,
                           int64_t{image.height} - 1, int64_t{image.depth} - 1};
  if (at[0] % bytes)
    fault(warp, ins, lane, "misaligned access",
          "byte " + std::to_string(at[0]) + " of a row, which is no multiple " +
              "of the " + std::to_string(bytes) + " bytes that are accessed",
          kMisalignedAddress);
  bool inside = true;
  for (int k = 0; k < 3; ++k) inside &= at[k] >= 0 && at[k] <= last[k];
  if (!inside && outside == Outside::kZero) return 0;
  if (!inside && outside == Outside::kTrap)
    fault(
        warp, ins, lane, "out of bounds",
        "byte " + std::to_string(at[0]) + " of row " + std::to_string(at[1]) +
            " of " + (g.layered ? "layer " : "slice ") + std::to_string(at[2]) +
            " of a surface of " + std::to_string(image.width) + " x " +
            std::to_string(image.height) + " x " + std::to_string(image.depth) +
            " texels of " + std::to_string(image.texel_bytes()) + " bytes",
        kLaunchFailure);
  for (int k = 0; k < 3; ++k) at[k] = std::clamp<int64_t>(at[k], 0, last[k]);
  return image.address + at[2] * image.slice + at[1] * image.pitch + at[0];
}

Outside outside_of(const Statement& s) {
  return s.has("trap")    ? Outside::kTrap
         : s.has("clamp") ? Outside::kClamp
                          : Outside::kZero;
}

// f(address, lane) for each lane; the address may be 0.
void each_place(Warp& warp, const Instruction& ins, uint32_t mask, Geometry g,
                const std::function<void(uint64_t, int)>& f) {
  const Outside outside = outside_of(*ins.statement);
  each_image(warp, ins, mask, true, [&](const Texture& t, uint32_t same) {
    // The faces of a cube are layers to a surface.
    Image image = t.image;
    image.layered |= std::exchange(image.cube, false);
    require_geometry(warp, ins, first_lane(same), image, g);
    for (; same; same &= same - 1) {
      const int l = first_lane(same);
      f(surface_place(warp, ins, l, t.image, g, outside), l);
    }
  });
}

// A part of what is accessed lies in each register, which may be wider.
void load(Warp& warp, const Instruction& ins, uint32_t mask, Geometry g) {
  const int part = ins.element_bytes / ins.result_count;
  each_place(warp, ins, mask, g, [&](uint64_t address, int lane) {
    if (address) observe::texel(warp, ins, lane, address, ins.element_bytes);
    const auto* from =
        static_cast<const uint8_t*>(allocations().look_at(address));
    for (int k = 0; k < ins.result_count; ++k) {
      if (ins.result(k) == kNowhere) continue;
      uint8_t* to = lanes<uint8_t>(warp, ins.result(k)) + lane * ins.to_bytes;
      std::memset(to, 0, ins.to_bytes);
      if (address) std::memcpy(to, from + k * part, part);
    }
  });
}

void store(Warp& warp, const Instruction& ins, uint32_t mask, Geometry g) {
  const int first = 1 + g.dimensions + g.layered;
  const int count = ins.source_count - first;
  const int part = ins.element_bytes / count;
  warp.block->quiet = false;
  each_place(warp, ins, mask, g, [&](uint64_t address, int lane) {
    if (!address) return;
    uint8_t texel[kMatrixBytes];
    for (int k = 0; k < count; ++k)
      std::memcpy(
          texel + k * part,
          lanes<uint8_t>(warp, ins.source(first + k)) + lane * ins.from_bytes,
          part);
    observe::texel(warp, ins, lane, address, ins.element_bytes, texel);
    std::memcpy(allocations().open(address), texel, ins.element_bytes);
    allocations().note_written(address, ins.element_bytes);
  });
}

// ---- Queries ----------------------------------------------------------------

void query(Warp& warp, const Instruction& ins, uint32_t mask) {
  const Statement& s = *ins.statement;
  each_image(warp, ins, mask, s.name() == "suq",
             [&](const Texture& t, uint32_t same) {
               const uint32_t answer = s.has("width")    ? t.image.width
                                       : s.has("height") ? t.image.height
                                                         : t.image.depth;
               for (; same; same &= same - 1)
                 write(warp, ins, 0, first_lane(same), answer);
             });
}

// ---- Decoding ---------------------------------------------------------------

struct OfGeometry {
  const char* name;
  int coordinates;  // with the layer
  Handler sample, load, store;
};
using ByGeometry = void(Warp&, const Instruction&, uint32_t, Geometry);
template <ByGeometry* run, int dimensions, bool layered, bool cube = false>
void run_for(Warp& warp, const Instruction& ins, uint32_t mask) {
  run(warp, ins, mask, {dimensions, layered, cube});
}
template <int dimensions, bool layered>
constexpr OfGeometry of(const char* name) {
  return {name, dimensions + layered, run_for<sample, dimensions, layered>,
          run_for<load, dimensions, layered>,
          run_for<store, dimensions, layered>};
}

// Only textures are: a surface has layers instead.
template <bool layered>
constexpr OfGeometry of_cube(const char* name) {
  return {name, 3 + layered, run_for<sample, 2, layered, true>, nullptr,
          nullptr};
}

const OfGeometry& geometry_of(const Statement& s) {
  static constexpr OfGeometry kAll[] = {
      of<1, false>("1d"),    of<2, false>("2d"), of<3, false>("3d"),
      of<1, true>("a1d"),    of<2, true>("a2d"), of_cube<false>("cube"),
      of_cube<true>("acube")};
  return *std::find_if(std::begin(kAll), std::end(kAll),
                       [&](const OfGeometry& g) { return s.has(g.name); });
}

void read_place(const Operand& o, int coordinates, OperandReader& operands,
                Draft& ins) {
  ins.read.push_back(operands.source(named(o.text), 8));
  for (int k = 0; k < coordinates; ++k)
    ins.read.push_back(operands.source(named(o.list.at(k)), 4));
}

void read_all(const Operand& o, OperandReader& operands, Draft& ins) {
  if (o.list.empty()) return ins.read.push_back(operands.source(o, 4));
  for (const std::string& name : o.list)
    ins.read.push_back(operands.source(named(name), 4));
}

void write_all(const Operand& o, OperandReader& operands, Draft& ins) {
  for (const std::string& name : o.list)
    ins.written.push_back(operands.destination(named(name)));
}

template <int channel>
void gather_channel(Warp& warp, const Instruction& ins, uint32_t mask) {
  gather(warp, ins, mask, channel);
}

Handler gather_of(const Statement& s) {
  return s.has("r")   ? gather_channel<0>
         : s.has("g") ? gather_channel<1>
         : s.has("b") ? gather_channel<2>
                      : gather_channel<3>;
}

void decode_texture_read(const Statement& s, OperandReader& operands,
                         Draft& ins) {
  const OfGeometry& g = geometry_of(s);
  ins.to = parse_type(s.op.at(s.op.size() - 2));
  write_all(s.operands.at(0), operands, ins);
  read_place(s.operands.at(1), g.coordinates, operands, ins);
  for (size_t k = 2; k < s.operands.size(); ++k)  // a level, or derivatives
    read_all(s.operands[k], operands, ins);
  ins.run = s.name() == "tld4"    ? gather_of(s)
            : s.type().is_float() ? g.sample
                                  : fetch;
}

// The width of the registers that hold the parts of a texel.
uint8_t width_of(const Operand& o, int part, OperandReader& operands) {
  for (const std::string& name : o.list)
    if (const int bytes = operands.width(named(name))) return bytes;
  return static_cast<uint8_t>(std::max(part, 2));
}

void decode_surface(const Statement& s, OperandReader& operands, Draft& ins) {
  const OfGeometry& g = geometry_of(s);
  const bool stores = s.name() == "sust";
  const Operand& values = s.operands.at(stores ? 1 : 0);
  const Type part = parse_type(s.op.at(s.op.size() - 2));
  const uint8_t width = width_of(values, part.bytes, operands);
  ins.element_bytes = static_cast<uint8_t>(part.bytes * values.list.size());
  (stores ? ins.from_bytes : ins.to_bytes) = width;
  ins.run = stores ? g.store : g.load;
  read_place(s.operands.at(stores ? 0 : 1), g.coordinates, operands, ins);
  if (!stores) return write_all(values, operands, ins);
  for (const std::string& name : values.list)
    ins.read.push_back(operands.source(named(name), width));
}

}  // namespace

bool decode_texture(const Statement& s, OperandReader& operands, Draft& ins) {
  const std::string& op = s.name();
  ins.read_only = op == "tex" || op == "tld4" || op == "suld";
  if (op == "tex" || op == "tld4") {
    decode_texture_read(s, operands, ins);
  } else if (op == "suld" || op == "sust") {
    decode_surface(s, operands, ins);
  } else if (op == "txq" || op == "suq") {
    ins.written = {operands.destination(s.operands.at(0))};
    read_place(s.operands.at(1), 0, operands, ins);
    ins.run = query;
  } else {
    return false;
  }
  return true;
}

}  // namespace simt
