// TFRecord files, and the tf.train.Example messages in them, from their wire format.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dataset/pieces.h"

namespace ms::dataset {

// What a column of examples becomes. Without an element: as it is, text as UInt8.
struct ExampleColumn {
  std::string name;
  std::optional<Element> element;  // of kText: texts
  std::optional<Dims> dims;        // with -1 for at most one extent; none: one axis
};

// The names of the features of a record, in alphabetical order.
std::vector<std::string> FeatureNames(const Pieces& pieces, size_t piece);
std::shared_ptr<const PieceForm> MakeExampleForm(std::vector<ExampleColumn> columns);

// The checksum that stands before and behind a record.
uint32_t MaskedSum(std::string_view bytes);

}  // namespace ms::dataset
