// mindspore._core.dataset: operations on text, and what the engine asks Python of characters.
#include <pybind11/stl.h>

#include "dataset/texts/characters.h"
#include "python/dataset_handles.h"
#include "python/dataset_values.h"
#include "python/dtype_object.h"

namespace ms::python {
namespace py = pybind11;
using dataset::TextOperationRef;

namespace {

struct TextOperationHandle {
  TextOperationRef operation;
};
struct VocabularyHandle {
  std::shared_ptr<const dataset::Vocabulary> vocabulary;
};

// Not pybind11's own, which refuses characters that stand for bytes.
std::u32string Characters(py::handle text) {
  if (!PyUnicode_Check(text.ptr())) throw py::type_error("a text is no str");
  std::u32string characters(static_cast<size_t>(PyUnicode_GET_LENGTH(text.ptr())), 0);
  for (size_t i = 0; i < characters.size(); ++i) {
    characters[i] = PyUnicode_READ_CHAR(text.ptr(), static_cast<Py_ssize_t>(i));
  }
  return characters;
}

py::object StrOf(std::u32string_view text) {
  auto size = static_cast<Py_ssize_t>(text.size());
  PyObject* made = PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, text.data(), size);
  if (!made) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

dataset::TextChange ChangeOf(py::object function) {
  return [held = Held(std::move(function))](std::u32string_view text) {
    WithGil gil;
    py::handle call = static_cast<PyObject*>(const_cast<void*>(held.get()));
    return Characters(call(StrOf(text)));
  };
}

// What function(first) gives for a page of characters, through `made`, with the GIL.
template <class Page>
typename dataset::Pages<Page>::Reader ReaderOf(py::object function,
                                               std::unique_ptr<const Page> (*made)(py::object)) {
  return [held = Held(std::move(function)), made](uint32_t first) {
    WithGil gil;
    py::handle call = static_cast<PyObject*>(const_cast<void*>(held.get()));
    return made(call(first));
  };
}

void CheckPage(std::initializer_list<size_t> sizes) {
  for (size_t size : sizes) {
    if (size != 256) throw py::value_error("a page has 256 characters");
  }
}

// 256 kinds and scripts as bytes, and as many plain texts.
std::unique_ptr<const dataset::CharacterPage> CharacterPageOf(py::object given) {
  auto [kinds, scripts, plain] =
      given.cast<std::tuple<std::string, std::vector<uint16_t>, py::list>>();
  CheckPage({kinds.size(), scripts.size(), plain.size()});
  auto page = std::make_unique<dataset::CharacterPage>();
  for (size_t i = 0; i < 256; ++i) {
    page->kinds[i] = static_cast<uint8_t>(kinds[i]);
    page->scripts[i] = scripts[i];
    page->plain[i] = Characters(plain[i]);
  }
  return page;
}

// 256 bytes, of which those of the set are not 0.
std::unique_ptr<const dataset::SetPage> SetPageOf(py::object given) {
  auto members = given.cast<std::string>();
  CheckPage({members.size()});
  auto page = std::make_unique<dataset::SetPage>();
  for (size_t i = 0; i < 256; ++i) (*page)[i] = members[i] != 0;
  return page;
}

// 256 texts; None: it depends on the neighbours.
std::unique_ptr<const dataset::ChangePage> ChangePageOf(py::object given) {
  auto [first, texts] = given.cast<std::pair<uint32_t, py::list>>();
  CheckPage({texts.size()});
  auto page = std::make_unique<dataset::ChangePage>();
  for (size_t i = 0; i < 256; ++i) {
    bool depends = texts[i].is_none();
    if (!depends) page->texts[i] = Characters(texts[i]);
    bool stays = page->texts[i] == std::u32string(1, static_cast<char32_t>(first + i));
    page->kinds[i] = depends ? dataset::ChangePage::kDepends
                     : stays ? dataset::ChangePage::kStays
                             : dataset::ChangePage::kBecomes;
  }
  return page;
}

// (function that gives the pages of a set, whether a run of its characters is one); None: nothing.
dataset::Delimiter DelimiterOf(const py::object& given) {
  if (given.is_none()) return {};
  auto [members, runs] = given.cast<std::pair<py::object, bool>>();
  auto reader = ReaderOf<dataset::SetPage>(std::move(members), SetPageOf);
  return {std::make_shared<dataset::CharacterSet>(std::move(reader)), runs};
}

// (lower_case, keep_whitespace, preserve_unused, the text needs no normal form, preparing function)
dataset::BasicOptions BasicOf(const py::tuple& given) {
  return {given[0].cast<bool>(), given[1].cast<bool>(), given[2].cast<bool>(), ChangeOf(given[4]),
          given[3].cast<bool>()};
}

// (vocabulary, mark of pieces that go on, what stands for unknown words, most bytes)
dataset::PieceOptions PiecesOf(const py::tuple& given) {
  return {given[0].cast<const VocabularyHandle&>().vocabulary, Characters(given[1]),
          Characters(given[2]), given[3].cast<int64_t>()};
}

void BindMakers(py::module_& m) {
  m.def("cut_text", [](std::string name, int cut, bool keep_spaces, bool with_offsets) {
    return TextOperationHandle{dataset::MakeCut(std::move(name), static_cast<dataset::Cut>(cut),
                                                keep_spaces, with_offsets)};
  });
  m.def("cut_basic", [](std::string name, const py::tuple& basic, bool with_offsets) {
    return TextOperationHandle{dataset::MakeBasic(std::move(name), BasicOf(basic), with_offsets)};
  });
  m.def("cut_pieces", [](std::string name, const py::tuple& pieces, bool with_offsets) {
    return TextOperationHandle{
        dataset::MakePieces(std::move(name), PiecesOf(pieces), with_offsets)};
  });
  m.def("cut_bert",
        [](std::string name, const py::tuple& basic, const py::tuple& pieces, bool with_offsets) {
          return TextOperationHandle{
              dataset::MakeBert(std::move(name), BasicOf(basic), PiecesOf(pieces), with_offsets)};
        });
  m.def("look_up", [](std::string name, const VocabularyHandle& vocabulary, int64_t unknown,
                      const py::dtype& dtype) {
    DType found;
    if (!DTypeFromNumpy(dtype, &found)) throw py::type_error("no type of numbers");
    return TextOperationHandle{
        dataset::MakeLookup(std::move(name), vocabulary.vocabulary, unknown, found)};
  });
  m.def("split_text", [](std::string name, const py::object& delimiter, const py::object& keep,
                         bool with_offsets) {
    return TextOperationHandle{dataset::MakeSplit(std::move(name), DelimiterOf(delimiter),
                                                  DelimiterOf(keep), with_offsets)};
  });
  m.def("change_text", [](std::string name, bool lower_case, py::object change, py::object pages) {
    auto reader = ReaderOf<dataset::ChangePage>(std::move(pages), ChangePageOf);
    return TextOperationHandle{
        dataset::MakeChange(std::move(name), lower_case, ChangeOf(std::move(change)),
                            std::make_shared<dataset::CharacterChanges>(std::move(reader)))};
  });
  m.def("truncate", [](std::string name, int64_t length) {
    return TextOperationHandle{dataset::MakeTruncate(std::move(name), length)};
  });
}

}  // namespace

TextOperationRef TextOperationOf(py::handle object) {
  if (!py::isinstance<TextOperationHandle>(object)) return nullptr;
  return object.cast<const TextOperationHandle&>().operation;
}

void BindDatasetTexts(py::module_& m) {
  py::class_<VocabularyHandle>(m, "Vocabulary", "Words and their numbers.")
      .def(py::init([](const py::list& words, const std::vector<int64_t>& numbers) {
        if (words.size() != numbers.size()) throw py::value_error("a number for each word");
        std::vector<std::u32string> texts;
        for (py::handle word : words) texts.push_back(Characters(word));
        return VocabularyHandle{
            std::make_shared<const dataset::Vocabulary>(std::move(texts), numbers)};
      }));
  py::class_<TextOperationHandle>(m, "TextOperation", "An operation on text.")
      .def("run", [](const TextOperationHandle& self, py::handle array) {
        dataset::Value value = BorrowedFromPython(array);
        std::vector<dataset::Value> results;
        try {
          py::gil_scoped_release released;
          results = self.operation->Run(value);
        } catch (const Error& error) {
          throw error.Of(self.operation->name());
        }
        return ArraysFromValues(results);
      });
  m.def("set_character_reader", [](py::object function) {
    dataset::SetCharacterReader(
        ReaderOf<dataset::CharacterPage>(std::move(function), CharacterPageOf));
  });
  BindMakers(m);
}

}  // namespace ms::python
