// mindspore._core.assembler: the text of generated kernels goes to a Python function, addresses of
// machine code come back (loops/machine_code.h, mindspore/_assembler.py). And programs from graph
// text, by which tests reach single kernels.
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "driver/compile.h"
#include "ir/text.h"
#include "loops/machine_code.h"
#include "loops/tunings.h"
#include "python/module.h"
#include "python/tensor_object.h"

namespace ms::python {
namespace {

namespace py = pybind11;
using loops::MachineCode;

class PythonAssembler : public loops::Assembler {
 public:
  explicit PythonAssembler(py::object submit) : submit_(std::move(submit)) {}
  ~PythonAssembler() override {
    // The registry may outlive the interpreter.
    if (!Py_IsInitialized()) {
      submit_.release();
      return;
    }
    py::gil_scoped_acquire gil;
    submit_ = py::object();
  }

  void Submit(std::shared_ptr<MachineCode> code) override {
    py::gil_scoped_acquire gil;
    try {
      submit_(code);
    } catch (py::error_already_set& error) {
      code->Fail(error.what());
    }
  }

  void Await(const MachineCode& code) override {
    if (!PyGILState_Check()) return code.Wait();
    py::gil_scoped_release release;
    code.Wait();
  }

 private:
  py::object submit_;
};

void Give(MachineCode& code, const std::vector<uintptr_t>& addresses) {
  if (addresses.size() != code.phases())
    throw py::value_error("there must be one address for each phase");
  std::vector<const void*> entries;
  for (uintptr_t address : addresses) entries.push_back(reinterpret_cast<const void*>(address));
  code.Give(std::move(entries));
}

// A program whose inputs and outputs are tensors, from its text (docs/formats/graph_text.md).
class TextProgram {
 public:
  explicit TextProgram(const std::string& text)
      : executable_(Compile(std::shared_ptr<Module>(Parse(text)))) {}

  py::list Run(const py::args& arguments) const {
    std::vector<Tensor> inputs;
    for (py::handle argument : arguments)
      inputs.push_back(ValueOf(argument.ptr(), "a program from text"));
    std::vector<RtValue> outputs;
    {
      py::gil_scoped_release release;
      executable_->Run(inputs, &outputs, nullptr);
    }
    py::list results;
    for (RtValue& value : outputs) {
      if (!value.is_tensor()) throw py::value_error("an output of the program is no tensor");
      results.append(py::reinterpret_steal<py::object>(NewTensor(value.tensor())));
    }
    return results;
  }

 private:
  std::shared_ptr<const Executable> executable_;
};

using loops::TuningResult;

py::dict ResultDict(const TuningResult& r) {
  py::dict d;
  d["tuning"] = r.tuning;
  d["first_ns"] = r.first_ns;
  d["best_ns"] = r.best_ns;
  d["trials"] = r.trials;
  d["complete"] = r.complete;
  return d;
}

void LoadTunings(const py::dict& known) {
  std::vector<std::pair<std::string, TuningResult>> results;
  for (const auto& [key, value] : known) {
    TuningResult r;
    r.tuning = py::cast<std::string>(value["tuning"]);
    r.complete = py::cast<bool>(value["complete"]);
    results.emplace_back(py::cast<std::string>(key), std::move(r));
  }
  loops::LoadTunings(std::move(results));
}

py::dict TakeTunings() {
  py::dict results;
  for (const auto& [key, result] : loops::TakeTunings()) results[py::str(key)] = ResultDict(result);
  return results;
}

void BindTuning(py::module_& assembler) {
  assembler.def("set_tuning_budget", &loops::SetTuningBudget, "Seconds that tuning may take.");
  assembler.def("tuning_budget", &loops::TuningBudget, "The seconds that are left.");
  assembler.def("spend_tuning", &loops::SpendTuning);
  assembler.def("load_tunings", &LoadTunings, "Results of earlier processes, by key.");
  assembler.def("take_tunings", &TakeTunings, "What was found since the last call.");
}

// What the device that writes the texts says of them.
void BindGenerator(py::module_& assembler, const loops::Generator& generator) {
  assembler.attr("instruction_set") = generator.instruction_set();
  assembler.attr("is_limited") = generator.is_limited();
  assembler.def(
      "generate_always", [&generator](bool on) { generator.GenerateAlways(on); },
      "Whether kernels made from now on have code even for little work, and wait for it.");
  assembler.def(
      "next_tuning_trial", [&generator] { return generator.NextTrial(); },
      "Code that a tuner waits for; None where there is nothing to try now.");
}

}  // namespace

void BindAssembler(py::module_& m) {
  py::module_ assembler = m.def_submodule("assembler", "Machine code of generated kernels.");
  py::class_<MachineCode, std::shared_ptr<MachineCode>>(assembler, "MachineCode")
      .def_property_readonly("text", &MachineCode::text)
      .def_property_readonly("phases", &MachineCode::phases)
      .def_property_readonly(
          "pending", [](const MachineCode& c) { return c.state() == MachineCode::State::kPending; })
      .def("give", &Give, "The addresses of all phases; they must stay valid.")
      .def("fail", &MachineCode::Fail);
  py::class_<TextProgram>(assembler, "TextProgram")
      .def(py::init<const std::string&>())
      .def("run", &TextProgram::Run);
  assembler.def(
      "set",
      [](py::object submit) {
        loops::SetAssembler(submit.is_none() ? nullptr : std::make_shared<PythonAssembler>(submit));
      },
      "Calls `submit(code)` for each new text; None: kernels are interpreted.");
  BindTuning(assembler);
  if (const loops::Generator* generator = loops::TextGenerator())
    BindGenerator(assembler, *generator);
}

}  // namespace ms::python
