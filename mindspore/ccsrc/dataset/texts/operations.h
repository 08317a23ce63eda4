// Operations on text that the engine does by itself: cutting into words, looking words up, case and
// normal forms. Texts are code points, as NumPy's arrays hold them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/row.h"
#include "dataset/texts/characters.h"
#include "dataset/texts/vocabulary.h"

namespace ms::dataset {

using TextChange = std::function<std::u32string(std::u32string_view)>;

class TextOperation : public Operation {
 public:
  explicit TextOperation(std::string name) : name_(std::move(name)) {}
  void Apply(std::span<Call> calls) const override;
  bool parallel() const override { return true; }
  bool brief() const override { return true; }
  // What one value becomes: one value, or with offsets three.
  virtual std::vector<Value> Run(const Value& value) const = 0;
  const std::string& name() const { return name_; }

 private:
  std::string name_;  // what errors call it
};
using TextOperationRef = std::shared_ptr<const TextOperation>;

enum class Cut { kSpaces, kCharacters, kScripts };
// `keep_spaces`: of scripts, white space is a word, too.
TextOperationRef MakeCut(std::string name, Cut cut, bool keep_spaces, bool with_offsets);

// What matches where it stands: a character of a set, or with `runs` as many of them as there are.
struct Delimiter {
  std::shared_ptr<CharacterSet> set;
  bool runs = false;
};
// What stands between delimiters, and those of them that all of `keep`, if it has a set, matches.
TextOperationRef MakeSplit(std::string name, Delimiter delimiter, Delimiter keep,
                           bool with_offsets);

struct BasicOptions {
  bool lower_case = false, keep_spaces = false, preserve_unused = true;
  // The whole of what is done to a text before it is cut, where the engine cannot do it alone.
  TextChange prepare;
  bool plain = true;  // text of ASCII stays as it is, but for its case
};
struct PieceOptions {
  std::shared_ptr<const Vocabulary> vocabulary;
  std::u32string suffix, unknown;
  int64_t max_bytes = 100;
};
TextOperationRef MakeBasic(std::string name, BasicOptions options, bool with_offsets);
TextOperationRef MakePieces(std::string name, PieceOptions options, bool with_offsets);
TextOperationRef MakeBert(std::string name, BasicOptions basic, PieceOptions pieces,
                          bool with_offsets);

// Numbers of words, as `dtype`; `unknown` stands for those that are not there, unless it is -1.
TextOperationRef MakeLookup(std::string name, std::shared_ptr<const Vocabulary> vocabulary,
                            int64_t unknown, DType dtype);
// Each text through `change`, or character by character through `changes` where that is the same;
// those of ASCII stay, `lower_case`: without their case.
TextOperationRef MakeChange(std::string name, bool lower_case, TextChange change,
                            std::shared_ptr<CharacterChanges> changes);
// The first entries of the last axis, of an array of anything.
TextOperationRef MakeTruncate(std::string name, int64_t length);

}  // namespace ms::dataset
