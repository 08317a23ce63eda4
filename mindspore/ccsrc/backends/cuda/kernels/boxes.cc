// Boxes that stay, and means of features inside of boxes.
#include <ms_cuda_texts.h>  // made when this is built

#include <bit>

#include "backends/cuda/kernels.h"
#include "backends/cuda/kernels/text_kernel.h"
#include "ops/regions.h"

namespace ms::cuda {
namespace {

constexpr size_t kNumbers = 16;  // of struct Numbers in device/boxes.cuh
constexpr int64_t kSettled = 256;

KernelChoice MakeUnsuppressed(const KernelRequest& r) {
  if (r.out[0].shape().size() == 0) return NothingToDo();
  int64_t count = r.shape(0)[-2], lists = r.out[0].shape().size() / count;
  std::string body = fmt::format("Boxes<{}>(x0, y0, n);", RegisterType(r.dtype(0)));
  std::string text = kBoxesText + EntryText(0, ArgumentsText(r), "Settle" + body) +
                     EntryText(1, ArgumentsText(r), "Drop" + body);
  std::vector<long long> sizes{lists, count, 0,
                               std::bit_cast<long long>(r.attr<double>("iou_threshold"))};
  sizes.resize(kNumbers);
  return FunctionKernel(
      [=, program = Program::Of(text, 2)](const KernelArgs& args) {
        std::vector<long long> numbers = sizes;
        std::vector<const void*> addresses = AddressesOf(args, 1, 1);
        for (int64_t first = 0; first < count; first += kSettled) {
          numbers[2] = first;
          int64_t behind = count - first - kSettled;
          LaunchText(StreamOf(args), *program, 0, BlocksFor(lists * kSettled), addresses, numbers);
          if (behind > 0)
            LaunchText(StreamOf(args), *program, 1, BlocksFor(lists * behind), addresses, numbers);
        }
      },
      10000);
}

KernelMaker Regions(const char* function, bool gradient) {
  return [=](const KernelRequest& r) -> KernelChoice {
    int64_t elements = r.out[0].shape().size();
    if (elements == 0) return NothingToDo();
    const Shape& features = gradient ? r.out[0].shape() : r.shape(0);
    std::vector<long long> sizes{0,
                                 features[0],
                                 features[1],
                                 features[2],
                                 features[3],
                                 r.shape(1)[0],
                                 r.attr<int64_t>("pooled_height"),
                                 r.attr<int64_t>("pooled_width"),
                                 std::bit_cast<long long>(r.attr<double>("spatial_scale")),
                                 r.attr<int64_t>("sample_num"),
                                 r.attr<int64_t>("roi_end_mode") == 1,
                                 0,
                                 kMostRegionPoints};
    sizes.resize(kNumbers);
    std::string body = fmt::format("{}<{}, {}>(fault, {}, n);", function, MemoryType(r.dtype(0)),
                                   RegisterType(r.dtype(0)), NamesText(r));
    std::string text = kBoxesText + EntryText(0, ArgumentsText(r), body, "Own(found, n)");
    return FunctionKernel(
        [=, program = Program::Of(text, 1)](const KernelArgs& args) {
          CudaStream& stream = StreamOf(args);
          std::vector<long long> numbers = sizes;
          numbers[0] = stream.NextTicket(
              args.place, ErrorKind::kValue,
              fmt::format("the numbers of images in 'rois' must be in [0, {}), but got {{}}",
                          sizes[1]));
          numbers[11] = stream.NextTicket(args.place, ErrorKind::kValue, kRegionTooLarge);
          LaunchText(stream, *program, 0, BlocksFor(elements), AddressesOf(args, 2, 1), numbers);
        },
        5000);
  };
}

}  // namespace

void AddBoxes(KernelTable& table) {
  table.For("UnsuppressedBoxes").Try("text", MakeUnsuppressed);
  table.For("ROIAlign").Try("text", Regions("MeanOfRegions", false));
  table.For("ROIAlignGrad").Try("text", Regions("GradOfRegions", true));
}

}  // namespace ms::cuda
