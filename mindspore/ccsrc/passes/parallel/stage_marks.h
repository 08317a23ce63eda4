// Marks on Parameters, which say what each stage of a pipeline holds: those of the user, which are
// checked, or those of the best cut. Internal to stages.cc.
#pragma once

#include "passes/parallel/stage_work.h"
#include "passes/parallel/stages.h"

namespace ms::parallel {

using Marks = std::vector<int64_t>;  // of inputs; kAllStages: none

// A graph that is differentiated, and what main gives to it.
struct Site {
  Graph* graph = nullptr;
  Vars bound;  // of main, for each input
};
// Main itself, where nothing is differentiated.
std::vector<Site> FindSites(Module& module);

// The marks of main's inputs that there are to be: those of the user, or those of the best cut of
// each network that is differentiated, where those that were cut before say nothing of it.
// ValueError for marks that do not fit: the text names the cell.
Marks ChooseMarks(const std::vector<Site>& sites, const Graph& main, const PipelineOptions& options,
                  const std::vector<bool>& parameters, const StageWork& work,
                  std::vector<std::string>* warnings);

}  // namespace ms::parallel
