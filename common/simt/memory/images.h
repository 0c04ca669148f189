// Images: what the handles of texture and surface objects stand for. The
// runtime makes them, kernels read and write them.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace simt {

// Texels in memory: rows of them, slices of rows.
struct Image {
  uint64_t address = 0, pitch = 0, slice = 0;  // bytes from one to the next
  uint32_t width = 0, height = 1, depth = 1;   // of layers: how many
  uint8_t dimensions = 1;                      // of one layer
  bool layered = false;
  bool cube = false;     // six faces, or six of each layer, behind one another
  bool linear = false;   // plain memory, read by number
  uint8_t channels = 1;  // of a texel,
  uint8_t channel_bytes = 4;
  char kind = 'f';  //   each u, s or f

  uint32_t texel_bytes() const { return channels * channel_bytes; }
  // From the first texel to the last one.
  uint64_t bytes() const {
    return (depth - 1) * slice + (height - 1) * pitch +
           uint64_t{width} * texel_bytes();
  }
};

struct Texture {
  // What is read beside the image, as cudaTextureAddressMode numbers them.
  enum Beside : uint8_t { kWrap, kClamp, kMirror, kBorder };

  Image image;
  bool surface = false;  // it is a surface: all that follows is a texture's
  Beside beside[3] = {kClamp, kClamp, kClamp};
  bool filters = false;     // between neighbours
  bool normalised = false;  // coordinates are from 0 to 1
  bool as_floats = false;   // integers are read as floats from 0 or -1 to 1
  uint32_t border[4] = {};  // its colour's bits, as a texel's channels
  // Of a mipmapped array; empty: `image` is all there is.
  std::vector<Image> levels;
  bool mixes_levels = false;  // between neighbours, too
  bool anisotropic = false;
  float least_level = 0, most_level = 0, level_bias = 0;
};

class Images {
 public:
  uint64_t add(const Texture& texture);
  // Null if there is none of that number, or no longer.
  std::shared_ptr<const Texture> find(uint64_t number) const;
  bool remove(uint64_t number);

 private:
  mutable std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<const Texture>> live_;
  uint64_t count_ = 0;
};

// The ones of this process; never destroyed.
Images& images();

}  // namespace simt
