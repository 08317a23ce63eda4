// See operations.h: texts cut into words, and words into pieces.
#include <algorithm>
#include <iterator>
#include <utility>

#include "dataset/texts/characters.h"
#include "dataset/texts/operations.h"
#include "dataset/texts/words.h"

namespace ms::dataset {
namespace {

// f(begin, end, key) for neighbours of equal key; those of key -1 are alone.
template <class Key, class F>
void EachRun(std::u32string_view text, size_t begin, size_t end, Key&& key, F&& f) {
  while (begin < end) {
    int here = key(text[begin]);
    size_t next = begin + 1;
    while (here >= 0 && next < end && key(text[next]) == here) ++next;
    f(begin, next, here);
    begin = next;
  }
}

void CountBytes(std::u32string_view text, std::vector<Word>* words) {
  ByteCounter bytes(text);
  for (Word& word : *words) {
    auto begin = static_cast<size_t>(word.word.data() - text.data());
    word.start = bytes.At(begin);
    word.end = bytes.At(begin + word.word.size());
  }
}

// The text of a value that holds one.
std::u32string_view TheText(const Value& texts) {
  if (!texts.dims->empty()) {
    Throw(ErrorKind::kValue, "the input must be one text, but has rank {}", texts.dims->size());
  }
  return TextAt(texts, 0);
}

class CutOperation : public TextOperation {
 public:
  CutOperation(std::string name, Cut cut, bool keep_spaces, bool with_offsets)
      : TextOperation(std::move(name)),
        cut_(cut),
        keep_spaces_(keep_spaces),
        with_offsets_(with_offsets) {}

  std::vector<Value> Run(const Value& value) const override {
    Value texts = AsText(value);
    std::u32string_view text = TheText(texts);
    std::vector<Word> words = WordsOf(text);
    if (with_offsets_) CountBytes(text, &words);
    return Given(std::move(words), with_offsets_);
  }

 private:
  std::vector<Word> WordsOf(std::u32string_view text) const {
    std::vector<Word> words;
    auto add = [&](size_t begin, size_t end, int key) {
      if (key != 1 || keep_spaces_) words.push_back({text.substr(begin, end - begin)});
    };
    // White space has the key 1.
    auto space = [](char32_t c) { return KindsOf(c) & kSpace ? 1 : 0; };
    auto script = [](char32_t c) { return KindsOf(c) & kSpace ? 1 : ScriptOf(c) + 2; };
    if (cut_ == Cut::kSpaces) EachRun(text, 0, text.size(), space, add);
    if (cut_ == Cut::kScripts) EachRun(text, 0, text.size(), script, add);
    if (cut_ == Cut::kCharacters) {
      for (size_t i = 0; i < text.size(); ++i) words.push_back({text.substr(i, 1)});
    }
    return words;
  }

  Cut cut_;
  bool keep_spaces_, with_offsets_;
};

class SplitOperation : public TextOperation {
 public:
  SplitOperation(std::string name, Delimiter delimiter, Delimiter keep, bool with_offsets)
      : TextOperation(std::move(name)),
        delimiter_(std::move(delimiter)),
        keep_(std::move(keep)),
        with_offsets_(with_offsets) {}

  std::vector<Value> Run(const Value& value) const override {
    Value texts = AsText(value);
    std::u32string_view text = TheText(texts);
    std::vector<Word> words;
    // Words have the key 0, delimiters 1, or if they are single characters -1.
    auto key = [&](char32_t c) { return !Has(delimiter_, c) ? 0 : delimiter_.runs ? 1 : -1; };
    EachRun(text, 0, text.size(), key, [&](size_t begin, size_t end, int found) {
      std::u32string_view word = text.substr(begin, end - begin);
      if (found == 0 || Keeps(word)) words.push_back({word});
    });
    if (with_offsets_) CountBytes(text, &words);
    return Given(std::move(words), with_offsets_);
  }

 private:
  static bool Has(const Delimiter& delimiter, char32_t c) { return delimiter.set->Of(c)[c & 255]; }
  bool Keeps(std::u32string_view word) const {
    return keep_.set && (keep_.runs || word.size() == 1) &&
           std::all_of(word.begin(), word.end(), [this](char32_t c) { return Has(keep_, c); });
  }

  Delimiter delimiter_, keep_;
  bool with_offsets_;
};

// How long the special word of BERT is that begins here: [CLS], [unused1] and the like; 0: none.
size_t Special(std::u32string_view text) {
  for (std::u32string_view word : {U"[CLS]", U"[SEP]", U"[UNK]", U"[PAD]", U"[MASK]"}) {
    if (text.starts_with(word)) return word.size();
  }
  constexpr std::u32string_view kUnused = U"[unused";
  if (!text.starts_with(kUnused)) return 0;
  size_t end = kUnused.size();
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return end > kUnused.size() && end < text.size() && text[end] == ']' ? end + 1 : 0;
}

// f(begin, end, whether it is a special word) for all parts of the text.
template <class F>
void EachPart(std::u32string_view text, bool special, F&& f) {
  size_t begin = 0;
  for (size_t i = text.find(U'['); special && i < text.size(); i = text.find(U'[', i)) {
    size_t length = Special(text.substr(i));
    if (length == 0) {
      ++i;
      continue;
    }
    f(begin, i, false);
    f(i, i + length, true);
    begin = i += length;
  }
  f(begin, text.size(), false);
}

class Basic {
 public:
  explicit Basic(BasicOptions options) : options_(std::move(options)) {}

  // The text as it is cut: control signs are white space.
  std::u32string Prepared(std::u32string_view text) const {
    std::u32string prepared;
    prepared.reserve(text.size());
    bool alone = true;
    bool special = options_.preserve_unused && options_.lower_case;
    EachPart(text, special, [&](size_t begin, size_t end, bool kept) {
      if (kept) {
        prepared.append(text.substr(begin, end - begin));
      } else {
        alone = alone && Append(text.substr(begin, end - begin), &prepared);
      }
    });
    return alone ? prepared : options_.prepare(text);
  }

  // f(a word of the prepared text)
  template <class F>
  void EachWord(std::u32string_view text, F&& f) const {
    auto kind = [](char32_t c) {
      uint8_t kinds = KindsOf(c);
      if (kinds & kSpace) return 1;
      return (kinds & (kChinese | kSign)) != 0 ? -1 : 0;
    };
    EachPart(text, options_.preserve_unused, [&](size_t begin, size_t end, bool special) {
      if (special) return f(text.substr(begin, end - begin));
      EachRun(text, begin, end, kind, [&](size_t first, size_t last, int key) {
        if (key != 1 || options_.keep_spaces) f(text.substr(first, last - first));
      });
    });
  }

 private:
  // False: neighbours matter, or a normal form is wanted.
  bool Append(std::u32string_view text, std::u32string* prepared) const {
    for (char32_t c : text) {
      const CharacterPage& page = PageOf(c);
      uint8_t kinds = page.kinds[c & 255];
      bool plain = c < 0x80 || (options_.lower_case ? !(kinds & kEntangled) : options_.plain);
      if (!plain) return false;
      if (options_.lower_case) {
        for (char32_t part : page.plain[c & 255]) {
          prepared->push_back(KindsOf(part) & kControl ? U' ' : part);
        }
      } else {
        prepared->push_back(kinds & kControl ? U' ' : c);
      }
    }
    return true;
  }

  BasicOptions options_;
};

class BasicOperation : public TextOperation {
 public:
  BasicOperation(std::string name, BasicOptions options, bool with_offsets)
      : TextOperation(std::move(name)), basic_(std::move(options)), with_offsets_(with_offsets) {}

  std::vector<Value> Run(const Value& value) const override {
    Value texts = AsText(value);
    std::u32string text = basic_.Prepared(TheText(texts));
    std::vector<Word> words;
    basic_.EachWord(text, [&](std::u32string_view word) { words.push_back({word}); });
    if (with_offsets_) CountBytes(text, &words);
    return Given(std::move(words), with_offsets_);
  }

 private:
  Basic basic_;
  bool with_offsets_;
};

class Pieces {
 public:
  explicit Pieces(PieceOptions options) : options_(std::move(options)) {}

  // Adds the longest pieces of a word that are in the vocabulary, or the whole as unknown. With
  // offsets, its bytes begin at `start`.
  void Cut(std::u32string_view word, size_t start, bool offsets, std::vector<Word>* pieces) const {
    size_t known = pieces->size(), begin = 0;
    ByteCounter bytes(word);
    bool few = word.size() * 4 <= static_cast<size_t>(options_.max_bytes) ||
               ByteCounter(word).At(word.size()) <= static_cast<size_t>(options_.max_bytes);
    while (few && begin < word.size()) {
      std::u32string_view mark = begin > 0 ? std::u32string_view(options_.suffix) : U"";
      size_t most = options_.vocabulary->longest();
      most = most > mark.size() ? std::min(most - mark.size(), word.size() - begin) : 0;
      const Vocabulary::Entry* entry = nullptr;
      while (most > 0 && !entry) {
        entry = options_.vocabulary->FindJoined(mark, word.substr(begin, most));
        if (!entry) --most;
      }
      if (!entry) break;
      Word piece{entry->word};
      if (offsets)
        piece.start = start + bytes.At(begin), piece.end = start + bytes.At(begin + most);
      pieces->push_back(piece);
      begin += most;
    }
    if (few && begin == word.size()) return;
    pieces->resize(known);
    std::u32string_view whole = options_.unknown.empty() ? word : options_.unknown;
    size_t end = offsets ? start + ByteCounter(word).At(word.size()) : 0;
    pieces->push_back({whole, start, end});
  }

 private:
  PieceOptions options_;
};

class PiecesOperation : public TextOperation {
 public:
  PiecesOperation(std::string name, PieceOptions options, bool with_offsets)
      : TextOperation(std::move(name)), pieces_(std::move(options)), with_offsets_(with_offsets) {}

  std::vector<Value> Run(const Value& value) const override {
    Value texts = AsText(value);
    if (texts.dims->size() > 1) {
      Throw(ErrorKind::kValue, "the input must be words of rank 1, but has rank {}",
            texts.dims->size());
    }
    std::vector<Word> words;
    // Each word counts its bytes from its own beginning.
    for (int64_t i = 0, count = texts.count(); i < count; ++i) {
      pieces_.Cut(TextAt(texts, i), 0, with_offsets_, &words);
    }
    return Given(std::move(words), with_offsets_);
  }

 private:
  Pieces pieces_;
  bool with_offsets_;
};

class BertOperation : public TextOperation {
 public:
  BertOperation(std::string name, BasicOptions basic, PieceOptions pieces, bool with_offsets)
      : TextOperation(std::move(name)),
        basic_(std::move(basic)),
        pieces_(std::move(pieces)),
        with_offsets_(with_offsets) {}

  std::vector<Value> Run(const Value& value) const override {
    Value texts = AsText(value);
    std::u32string text = basic_.Prepared(TheText(texts));
    ByteCounter bytes(text);
    std::vector<Word> words;
    basic_.EachWord(text, [&](std::u32string_view word) {
      auto place = static_cast<size_t>(word.data() - text.data());
      pieces_.Cut(word, with_offsets_ ? bytes.At(place) : 0, with_offsets_, &words);
    });
    return Given(std::move(words), with_offsets_);
  }

 private:
  Basic basic_;
  Pieces pieces_;
  bool with_offsets_;
};

}  // namespace

TextOperationRef MakeCut(std::string name, Cut cut, bool keep_spaces, bool with_offsets) {
  return std::make_shared<CutOperation>(std::move(name), cut, keep_spaces, with_offsets);
}

TextOperationRef MakeSplit(std::string name, Delimiter delimiter, Delimiter keep,
                           bool with_offsets) {
  return std::make_shared<SplitOperation>(std::move(name), std::move(delimiter), std::move(keep),
                                          with_offsets);
}

TextOperationRef MakeBasic(std::string name, BasicOptions options, bool with_offsets) {
  return std::make_shared<BasicOperation>(std::move(name), std::move(options), with_offsets);
}

TextOperationRef MakePieces(std::string name, PieceOptions options, bool with_offsets) {
  return std::make_shared<PiecesOperation>(std::move(name), std::move(options), with_offsets);
}

TextOperationRef MakeBert(std::string name, BasicOptions basic, PieceOptions pieces,
                          bool with_offsets) {
  return std::make_shared<BertOperation>(std::move(name), std::move(basic), std::move(pieces),
                                         with_offsets);
}

}  // namespace ms::dataset
