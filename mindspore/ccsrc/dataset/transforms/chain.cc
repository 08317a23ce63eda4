// See chain.h.
#include "dataset/transforms/chain.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "dataset/transforms/elements.h"
#include "dataset/transforms/pixels.h"
#include "dataset/transforms/resize.h"
#include "dataset/transforms/work.h"

namespace ms::dataset {
namespace {

PictureReader& Reader() {
  static PictureReader reader;
  return reader;
}

std::span<const std::byte> Bytes(const Value& value) { return {value.data, value.bytes()}; }

void CheckEncoded(const Value& value) {
  bool bytes = value.element.kind == Kind::kBytes ||
               (value.element.kind == Kind::kNumber && IsInteger(value.element.dtype));
  if (!bytes || value.dims->size() > 1) {
    Throw(ErrorKind::kType, "the input must be encoded bytes, but got an array of {} of rank {}",
          value.element.name(), value.dims->size());
  }
}

int64_t Whole(double number) { return static_cast<int64_t>(number); }

void Finish(Work* work) {
  if (work->encoded) work->value = DecodePicture(work->value);
  work->encoded = false;
}

// What lies beyond an image. Pillow's alpha and black are full there.
Numbers Beyond(const Work& work, const Numbers& fill) {
  constexpr size_t kBands = 4;
  if (!work.pillow || fill.empty() || Channels(work.value) != kBands) return fill;
  Numbers color = fill;
  color.resize(kBands - 1, fill.back());
  color.push_back(255);
  return color;
}

// The part that `choose` picks by the size of the image.
void Crop(Work* work, const Numbers& fill,
          const std::function<Window(int64_t height, int64_t width)>& choose) {
  std::optional<JpegDecoder> decoder;
  if (work->encoded) decoder.emplace(Bytes(work->value));
  if (decoder && decoder->good()) {
    int64_t height = decoder->height(), width = decoder->width();
    Window part = choose(height, width);
    Window seen{std::clamp<int64_t>(part.top, 0, height), std::clamp<int64_t>(part.left, 0, width),
                0, 0};
    seen.height = std::clamp<int64_t>(part.top + part.height, seen.top, height) - seen.top;
    seen.width = std::clamp<int64_t>(part.left + part.width, seen.left, width) - seen.left;
    if (seen.height > 0 && seen.width > 0) {
      if (auto image = decoder->Decode(seen)) {
        work->encoded = false;
        work->value = std::move(*image);
        if (seen.height != part.height || seen.width != part.width) {
          Window within{part.top - seen.top, part.left - seen.left, part.height, part.width};
          work->value = CutOut(work->value, within, fill);
        }
        return;
      }
    }
    // Damaged, or nothing of it is seen: the reader of the rest says what it thinks of it.
    Finish(work);
    work->value = CutOut(work->value, part, fill);
    return;
  }
  Finish(work);
  CheckImage(work->value);
  Window part = choose((*work->value.dims)[0], (*work->value.dims)[1]);
  work->value = CutOut(work->value, part, Beyond(*work, fill));
}

// numbers: top, left, height, width
void FixedCrop(Work* work, const Numbers& n) {
  Crop(work, {}, [&](int64_t height, int64_t width) {
    Window part{Whole(n[0]), Whole(n[1]), Whole(n[2]), Whole(n[3])};
    if (part.top + part.height > height || part.left + part.width > width) {
      Throw(ErrorKind::kValue, "the part must lie in the image of {}×{}, but got {}×{} at ({}, {})",
            height, width, part.height, part.width, part.top, part.left);
    }
    return part;
  });
}

// The middle of an image. Where there are two, a smaller array has its larger border above and to
// the left; of PIL images, the even place counts.
Window Middle(int64_t height, int64_t width, const Numbers& n, bool pillow) {
  Window part{0, 0, Whole(n[0]), Whole(n[1])};
  auto begin = [pillow](int64_t extent, int64_t wanted) -> int64_t {
    if (pillow) return std::llrint(static_cast<double>(extent - wanted) / 2);
    return wanted > extent ? -((wanted - extent + 1) / 2) : (extent - wanted) / 2;
  };
  part.top = begin(height, part.height);
  part.left = begin(width, part.width);
  return part;
}

// numbers: height, width
void CenterCrop(Work* work, const Numbers& n) {
  if (!work->encoded && work->value.dims->size() > 3) {
    work->value = ForImages(work->value, [&](const Value& image) {
      return CutOut(image, Middle((*image.dims)[0], (*image.dims)[1], n, work->pillow), {});
    });
    return;
  }
  Crop(work, {},
       [&](int64_t height, int64_t width) { return Middle(height, width, n, work->pillow); });
}

// numbers: left, top, right, bottom, fill...
void Pad(Work* work, const Numbers& n) {
  Crop(work, From(n, 4), [&](int64_t height, int64_t width) {
    return Window{-Whole(n[1]), -Whole(n[0]), height + Whole(n[1]) + Whole(n[3]),
                  width + Whole(n[0]) + Whole(n[2])};
  });
}

// numbers: height, width, left, top, right, bottom, pad_if_needed, fill...
void RandomCrop(Work* work, const Numbers& n) {
  Crop(work, From(n, 7), [&](int64_t height, int64_t width) {
    Window part{0, 0, Whole(n[0]), Whole(n[1])};
    int64_t left = Whole(n[2]), top = Whole(n[3]);
    height += top + Whole(n[5]);
    width += left + Whole(n[4]);
    if (n[6] != 0) {
      int64_t rows = std::max<int64_t>(part.height - height, 0);
      int64_t columns = std::max<int64_t>(part.width - width, 0);
      top += rows, height += 2 * rows;
      left += columns, width += 2 * columns;
    }
    if (part.height > height || part.width > width) {
      Throw(ErrorKind::kValue,
            "the image must have at least {}×{} pixels, but got {}×{}. Use pad_if_needed=True.",
            part.height, part.width, height, width);
    }
    part.top = work->random.Below(height - part.height + 1) - top;
    part.left = work->random.Below(width - part.width + 1) - left;
    return part;
  });
}

// numbers: height, width, scale, ratio, interpolation, attempts
Window RandomWindow(Random* random, const Numbers& n, int64_t height, int64_t width) {
  auto rows = static_cast<double>(height), columns = static_cast<double>(width);
  double low = std::log(std::max(n[4], 1e-6)), high = std::log(std::max(n[5], 1e-6));
  for (int64_t attempt = 0; attempt < Whole(n[7]); ++attempt) {
    double area = rows * columns * random->Uniform(n[2], n[3]);
    double aspect = std::exp(random->Uniform(low, high));
    int64_t w = std::llround(std::sqrt(area * aspect)), h = std::llround(std::sqrt(area / aspect));
    if (w > 0 && w <= width && h > 0 && h <= height) {
      int64_t top = random->Below(height - h + 1);
      return {top, random->Below(width - w + 1), h, w};
    }
  }
  // No draw fitted: the largest middle part with an allowed aspect.
  double aspect = std::clamp(columns / rows, n[4], n[5]);
  int64_t w = std::min<int64_t>(width, std::max<int64_t>(std::llround(rows * aspect), 1));
  int64_t h = std::min<int64_t>(height, std::max<int64_t>(std::llround(columns / aspect), 1));
  return {(height - h) / 2, (width - w) / 2, h, w};
}

void RandomResizedCrop(Work* work, const Numbers& n) {
  if (!work->encoded) {
    CheckImage(work->value);
    const Dims& dims = *work->value.dims;
    Window part = RandomWindow(&work->random, n, dims[0], dims[1]);
    work->value = ResizePart(work->value, part, Whole(n[0]), Whole(n[1]),
                             static_cast<Interpolation>(Whole(n[6])));
    return;
  }
  Crop(work, {}, [&](int64_t height, int64_t width) {
    return RandomWindow(&work->random, n, height, width);
  });
  work->value =
      Resize(work->value, Whole(n[0]), Whole(n[1]), static_cast<Interpolation>(Whole(n[6])));
}

// What Pillow does under the same name; its cubic and Lanczos kernels are ours, too.
Interpolation OfPillow(Interpolation interpolation) {
  switch (interpolation) {
    case Interpolation::kNearest:
      return Interpolation::kPillowNearest;
    case Interpolation::kLinear:
      return Interpolation::kPillowLinear;
    case Interpolation::kCubic:
      return Interpolation::kPillowCubic;
    case Interpolation::kArea:
      return Interpolation::kPillowBox;
    default:
      return interpolation;
  }
}

// numbers: height, width (0: height is the length of the shorter side), interpolation
Value Resized(const Value& image, const Numbers& n, bool pillow) {
  int64_t height = Whole(n[0]), width = Whole(n[1]);
  if (width == 0) {
    auto rows = static_cast<double>((*image.dims)[0]);
    auto columns = static_cast<double>((*image.dims)[1]);
    if (rows < columns) {
      width = std::max<int64_t>(Whole(n[0] * columns / rows), 1);
    } else {
      width = height;
      height = std::max<int64_t>(Whole(n[0] * rows / columns), 1);
    }
  }
  auto interpolation = static_cast<Interpolation>(Whole(n[2]));
  return Resize(image, height, width, pillow ? OfPillow(interpolation) : interpolation);
}

void ResizeTo(Work* work, const Numbers& n) {
  Finish(work);
  work->value =
      ForImages(work->value, [&](const Value& image) { return Resized(image, n, work->pillow); });
}

void Flip(Work* work, const Numbers& n, Value (*flip)(const Value&)) {
  Finish(work);
  if (!n.empty() && work->random.Uniform() >= n[0]) return;
  work->value = ForImages(work->value, flip);
}

std::vector<float> Floats(const Numbers& n, size_t first, size_t count) {
  auto begin = n.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

// numbers: is_hwc, means, deviations
void NormalizeBy(Work* work, const Numbers& n) {
  size_t count = (n.size() - 1) / 2;
  work->value = Normalize(work->value, Floats(n, 1, count), Floats(n, 1 + count, count), n[0] != 0);
}

void ToTensor(Work* work) {
  CheckImage(work->value);
  if (work->value.dims->size() == 2) {
    Dims dims = *work->value.dims;
    dims.push_back(1);
    work->value.dims = MakeDims(std::move(dims));
  }
  work->value = Cast(ChannelsFirst(work->value), DType::kFloat32);
  Value result = Value::Make(work->value.element, work->value.dims);
  auto* out = reinterpret_cast<float*>(result.memory());
  const auto* in = work->value.as<float>();
  for (int64_t i = 0, count = result.count(); i < count; ++i) out[i] = in[i] / 255.0f;
  work->value = std::move(result);
}

void ToPillow(Work* work) {
  work->pillow = true;
  if (work->encoded) return;
  CheckImage(work->value);
  Dims dims = *work->value.dims;
  // Gray ones have no axis of channels.
  if (dims.size() == 3 && dims[2] == 1) work->value.dims = MakeDims({dims[0], dims[1]});
}

FunctionTable AllFunctions() {
  FunctionTable functions = {
      {"Decode",
       [](Work* w, const Numbers& n) {
         CheckEncoded(w->value);
         w->encoded = true;
         w->pillow = n[0] != 0;
       }},
      {"Crop", FixedCrop},
      {"CenterCrop", CenterCrop},
      {"Pad", Pad},
      {"RandomCrop", RandomCrop},
      {"RandomResizedCrop", RandomResizedCrop},
      {"Resize", ResizeTo},
      {"HorizontalFlip", [](Work* w, const Numbers& n) { Flip(w, n, FlipColumns); }},
      {"VerticalFlip", [](Work* w, const Numbers& n) { Flip(w, n, FlipRows); }},
      {"HWC2CHW",
       [](Work* w, const Numbers&) {
         CheckImage(w->value);
         w->value = ChannelsFirst(w->value);
       }},
      {"Rescale",
       [](Work* w, const Numbers& n) {
         w->value = Rescale(w->value, static_cast<float>(n[0]), static_cast<float>(n[1]));
       }},
      {"Normalize", NormalizeBy},
      {"ToTensor", [](Work* w, const Numbers&) { ToTensor(w); }},
      {"ToPIL", [](Work* w, const Numbers&) { ToPillow(w); }},
      {"ToNumpy", [](Work* w, const Numbers&) { w->pillow = false; }},
      {"TypeCast",
       [](Work* w, const Numbers& n) {
         w->value = Cast(w->value, static_cast<DType>(Whole(n[0])));
       }},
      {"OneHot", [](Work* w, const Numbers& n) { w->value = OneHot(w->value, Whole(n[0]), n[1]); }},
  };
  AddColors(&functions);
  AddFilters(&functions);
  AddSounds(&functions);
  AddWarps(&functions);
  return functions;
}

const FunctionTable& Functions() {
  static const FunctionTable functions = AllFunctions();
  return functions;
}

// Transforms that images of bytes go through by a table.
bool ByTable(const Transform& transform) {
  const std::string& name = transform.name;
  return name == "HorizontalFlip" || name == "HWC2CHW" || name == "Rescale" ||
         name == "Normalize" || name == "ToTensor";
}

// Works on encoded bytes, of which it decodes what it needs.
bool TakesEncoded(const std::string& name) {
  static const char* const names[] = {
      "Decode", "Crop", "CenterCrop", "Pad", "RandomCrop", "RandomResizedCrop", "ToPIL", "ToNumpy"};
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

std::vector<Value> Table(size_t channels) {
  std::vector<Value> tables;
  for (size_t c = 0; c < channels; ++c) {
    Value table = Value::Make(Element::Of(DType::kFloat32), MakeDims({1, 256}));
    for (int i = 0; i < 256; ++i)
      reinterpret_cast<float*>(table.memory())[i] = static_cast<float>(i);
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace

// One transform, or several that images of bytes pass at once.
struct Chain::Stage {
  std::vector<Transform> transforms;
  std::vector<Function> functions;
  std::optional<Lookup> lookup;  // without the flips, which are drawn
  size_t channels = 0;           // that the tables are for; 0: any
  bool takes_encoded = false;

  void MakeLookup();
  bool RunByTable(Work* work) const;
  void Run(size_t i, Work* work) const;
};

// The tables come from the transforms themselves: so the bits are the same either way.
void Chain::Stage::MakeLookup() {
  Lookup made;
  size_t count = 1;
  for (const Transform& t : transforms) {
    if (t.name == "Normalize") count = std::max(count, (t.numbers.size() - 1) / 2);
  }
  channels = count == 1 ? 0 : count;
  std::vector<Value> tables = Table(count);
  bool scaled = false;
  for (size_t i = 0; i < transforms.size(); ++i) {
    const Transform& t = transforms[i];
    if (t.name == "HWC2CHW" || t.name == "ToTensor") {
      if (made.channels_first) return;
      made.channels_first = true;
    }
    if (t.name == "HorizontalFlip" && made.channels_first) return;
    if (t.name == "Normalize") {
      // Of channels that are elsewhere than it says: no table does that.
      if ((t.numbers[0] != 0) == made.channels_first) return;
      size_t given = (t.numbers.size() - 1) / 2;
      if (given != 1 && given != count) return;
      for (size_t c = 0; c < count; ++c) {
        size_t which = std::min(c, given - 1);
        tables[c] = Normalize(tables[c], Floats(t.numbers, 1 + which, 1),
                              Floats(t.numbers, 1 + given + which, 1), true);
      }
      scaled = true;
    } else if (t.name == "Rescale" || t.name == "ToTensor") {
      for (Value& table : tables) {
        Work work{table, false, false, Random(0)};
        functions[i](&work, t.numbers);
        work.value.dims = table.dims;
        table = work.value;
      }
      scaled = true;
    }
  }
  if (!scaled) return;  // the result would be bytes
  for (const Value& table : tables) {
    made.tables.emplace_back(table.as<float>());
  }
  lookup = std::move(made);
}

bool Chain::Stage::RunByTable(Work* work) const {
  const Value& value = work->value;
  bool fits = lookup && value.element == Element::Of(DType::kUInt8) && value.dims->size() == 3 &&
              (channels == 0 || (*value.dims)[2] == static_cast<int64_t>(channels));
  if (!fits) return false;
  bool flipped = false;
  for (const Transform& t : transforms) {
    if (t.name != "HorizontalFlip") continue;
    bool flip = t.numbers.empty() || work->random.Uniform() < t.numbers[0];
    flipped = flipped != flip;
  }
  work->value = ms::dataset::Apply(*lookup, flipped, value);
  return true;
}

void Chain::Stage::Run(size_t i, Work* work) const {
  const Transform& transform = transforms[i];
  if (transform.certain()) return functions[i](work, transform.numbers);
  if (auto numbers = transform.Drawn(&work->random)) functions[i](work, *numbers);
}

std::optional<std::vector<double>> Transform::Drawn(Random* random) const {
  if (probability < 1 && random->Uniform() >= probability) return std::nullopt;
  std::vector<double> drawn = numbers;
  for (const Draw& draw : draws) {
    drawn[draw.place] =
        draw.whole
            ? draw.low + static_cast<double>(random->Below(Whole(draw.high) - Whole(draw.low) + 1))
            : random->Uniform(draw.low, draw.high);
  }
  return drawn;
}

Chain::Chain(std::vector<Transform> transforms) {
  for (Transform& transform : transforms) {
    auto function = Functions().find(transform.name);
    MS_ASSERT(function != Functions().end());
    bool joins = !stages_.empty() && ByTable(transform) && ByTable(stages_.back()->transforms[0]);
    if (!joins) stages_.push_back(std::make_unique<Stage>());
    stages_.back()->transforms.push_back(std::move(transform));
    stages_.back()->functions.push_back(function->second);
  }
  for (auto& stage : stages_) {
    stage->takes_encoded = TakesEncoded(stage->transforms[0].name);
    if (ByTable(stage->transforms[0])) stage->MakeLookup();
  }
}

Chain::~Chain() = default;

Value Chain::Run(Value value, uint64_t key) const {
  Work work{std::move(value), false, false, Random(key)};
  for (const auto& stage : stages_) {
    const std::string* name = &stage->transforms[0].name;
    try {
      if (!stage->takes_encoded) Finish(&work);
      if (stage->RunByTable(&work)) continue;
      for (size_t i = 0; i < stage->functions.size(); ++i) {
        name = &stage->transforms[i].name;
        stage->Run(i, &work);
      }
    } catch (const Error& error) {
      throw error.Of(*name);
    }
  }
  Finish(&work);
  return work.value;
}

void Chain::Apply(std::span<Call> calls) const {
  for (Call& call : calls) {
    uint64_t key = Mix(call.key, static_cast<uint64_t>(call.number));
    for (size_t i = 0; i < call.values.size(); ++i) {
      try {
        call.values[i] = Run(std::move(call.values[i]), Mix(key, i));
      } catch (const Error& error) {
        Throw(ErrorKind::kRuntime, "For 'map', row {}: {}", call.number, error.message());
      }
    }
  }
}

void SetPictureReader(PictureReader reader) { Reader() = std::move(reader); }

Value DecodePicture(const Value& bytes) {
  CheckEncoded(bytes);
  {
    JpegDecoder decoder(Bytes(bytes));
    if (decoder.good()) {
      if (auto image = decoder.Decode({0, 0, decoder.height(), decoder.width()})) return *image;
    }
  }
  return Reader()(bytes);
}

}  // namespace ms::dataset
