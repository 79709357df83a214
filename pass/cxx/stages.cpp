// llvm::PassBuilder has no C API: here LLVM's pipeline gets the stages that src/pipeline.rs lists.
#include "shim.h"

#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm-c/Core.h"

using namespace llvm;

namespace {

// Created when the plugin is loaded, so that -mllvm finds them, but only in the LLVM the shim was
// compiled for: in another one the layout of cl::opt differs and the host would crash here before
// it can refuse the plugin.
template <typename T> cl::opt<T> *option(const char *Name, const char *Help) {
  unsigned Major, Minor, Patch;
  LLVMGetVersion(&Major, &Minor, &Patch);
  return Major == LLVM_VERSION_MAJOR ? new cl::opt<T>(StringRef(Name), cl::desc(Help)) : nullptr;
}
cl::opt<std::string> *TargetOption =
    option<std::string>("okl-target", "Where okl sends parallel loops: mpi, cpu, cuda, hip, hip:gfx942, spirv, or several devices and cpu behind each other: cuda,spirv,cpu; with mpi+ in front ranks have them");
cl::opt<bool> *StrictOption =
    option<bool>("okl-strict", "Make every parallel loop okl declines an error");
cl::opt<bool> *FuseOption =
    option<bool>("okl-fuse", "Run OpenMP's parallel loops that follow each other as one, where that is proved to be right");

cl::opt<bool> *JitOption =
    option<bool>("okl-jit", "Embed the code of loops, for versions that are made at run time of what is known then");

cl::opt<std::string> *LibdeviceOption =
    option<std::string>("okl-libdevice", "NVIDIA's libdevice.10.bc, or the CUDA toolkit that has it, for kernels on CUDA devices; none: LLVM's libclc");

cl::opt<std::string> *KeepOption =
    option<std::string>("okl-keep", "Keep modules as the compiler made them for loop chains whose functions are in other files; the words by which this one is compiled");

cl::list<std::string> *PluginOption = []() -> cl::list<std::string> * {
  unsigned Major, Minor, Patch;
  LLVMGetVersion(&Major, &Minor, &Patch);
  return Major == LLVM_VERSION_MAJOR
             ? new cl::list<std::string>("okl-plugin", cl::desc("A library that knows of more parallel loops: see okl_plugin.h"))
             : nullptr;
}();

bool run(size_t Number, Module &M, Function *F, StringRef Parameters, void *Analyses) {
  std::string Target = TargetOption ? TargetOption->getValue() : "";
  return okl_run_stage(Number, wrap(&M), wrap(F), text(Parameters), text(Target),
                       StrictOption && StrictOption->getValue(),
                       FuseOption && FuseOption->getValue(), Analyses);
}

PreservedAnalyses preserved(bool Changed) {
  return Changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

struct ModuleStage : PassInfoMixin<ModuleStage> {
  size_t Number;
  std::string Parameters;
  explicit ModuleStage(size_t Number, StringRef Parameters = "")
      : Number(Number), Parameters(Parameters.str()) {}
  PreservedAnalyses run(Module &M, ModuleAnalysisManager &MAM) {
    return preserved(::run(Number, M, nullptr, Parameters, &MAM));
  }
  static bool isRequired() { return true; } // also at -O0
};

struct FunctionStage : PassInfoMixin<FunctionStage> {
  size_t Number;
  explicit FunctionStage(size_t Number) : Number(Number) {}
  PreservedAnalyses run(Function &F, FunctionAnalysisManager &) {
    return preserved(::run(Number, *F.getParent(), &F, "", nullptr));
  }
};

// The stages that LLVM's pipeline runs at a point.
template <typename Manager> void add(Manager &To, OklPoint Point) {
  OklStage Stage;
  for (size_t Number = 0; okl_stage(Number, &Stage); ++Number)
    if (Stage.Point == Point) {
      if constexpr (std::is_same_v<Manager, ModulePassManager>)
        To.addPass(ModuleStage(Number));
      else
        To.addPass(FunctionStage(Number));
    }
}

// The stage of a name, perhaps with parameters: name<parameters>.
bool addNamed(StringRef Name, ModulePassManager &MPM, ArrayRef<PassBuilder::PipelineElement>) {
  OklStage Stage;
  for (size_t Number = 0; okl_stage(Number, &Stage); ++Number) {
    StringRef Own = text(Stage.Name);
    if (Stage.Point == OklPeephole)
      continue;
    StringRef Parameters = Name;
    bool IsIt = Name == Own;
    if (!IsIt && Parameters.consume_front(Own) && Parameters.consume_front("<"))
      IsIt = Parameters.consume_back(">");
    if (IsIt) {
      MPM.addPass(ModuleStage(Number, Name == Own ? "" : Parameters));
      return true;
    }
  }
  return false;
}

} // namespace

// Whether code is embedded.
extern "C" bool okl_jit_option() { return JitOption && JitOption->getValue(); }

// What is said of libdevice.
extern "C" void okl_libdevice_option(OklTextSink Write, void *To) {
  if (LibdeviceOption)
    Write(To, text(LibdeviceOption->getValue()));
}

// What is said of modules that are kept.
extern "C" void okl_keep_option(OklTextSink Write, void *To) {
  if (KeepOption)
    Write(To, text(KeepOption->getValue()));
}

// The user's plug-ins, a line each.
extern "C" void okl_plugin_option(OklTextSink Write, void *To) {
  if (PluginOption)
    for (const std::string &One : *PluginOption) {
      std::string Line = One + "\n";
      Write(To, text(Line));
    }
}

extern "C" void okl_register(void *Builder) {
  auto &PB = *static_cast<PassBuilder *>(Builder);
  PB.registerPipelineParsingCallback(addNamed);
  auto At = [](OklPoint Point) {
    return [=](ModulePassManager &MPM, OptimizationLevel, auto...) { add(MPM, Point); };
  };
  PB.registerPipelineStartEPCallback(At(OklStart));
  PB.registerFullLinkTimeOptimizationEarlyEPCallback(At(OklStart));
  PB.registerPeepholeEPCallback(
      [](FunctionPassManager &FPM, OptimizationLevel) { add(FPM, OklPeephole); });
  PB.registerOptimizerEarlyEPCallback(
      [](ModulePassManager &MPM, OptimizationLevel Level, ThinOrFullLTOPhase) {
        // Without optimisation nothing is affine.
        if (Level != OptimizationLevel::O0)
          add(MPM, OklBeforeVectorising);
      });
  PB.registerOptimizerLastEPCallback(At(OklEnd));
  PB.registerFullLinkTimeOptimizationLastEPCallback(At(OklEnd));
}
