// The body of a loop over a set: what it accesses by its parameters.
#pragma once

#include "lanes.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <deque>
#include <string>

// Values of what the body can address, for the element of each lane.
struct Cell {
  llvm::Value *Now = nullptr;       // a vector; null before the first use
  llvm::PHINode *Carried = nullptr; // of a reduction: its value before these elements
  bool Written = false;
  bool Conditional = false;   // written by some lanes only
};

struct Object {
  const OklLaneArgument *Argument = nullptr; // null: a variable of the body's own
  unsigned Column = 0;
  llvm::Type *T = nullptr;
  llvm::SmallVector<Cell, 4> Cells;

  bool indirect() const {
    return Argument && (Argument->Place == OklLaneMapped || Argument->Place == OklLaneColumns);
  }
  bool global() const { return Argument && Argument->Place == OklLaneGlobal; }
};

struct Place {
  // Null: not known.
  Object *Of = nullptr;
  int64_t Offset = 0;
};

class LaneBody {
public:
  LaneBody(llvm::Function &Kernel, llvm::ArrayRef<OklLaneArgument> Arguments);

  // Whether it changes nothing but its arguments, and does the same on every thread.
  bool keepsToArguments();
  // Whether all that it does to an argument is to add to it: then what it adds to zero can be added later.
  bool onlyIncrements(const OklLaneArgument &A);

  std::string Why;

protected:
  llvm::Function &Kernel;
  llvm::ArrayRef<OklLaneArgument> Arguments;
  const llvm::DataLayout &DL;
  llvm::SmallVector<llvm::BasicBlock *, 16> Order; // blocks, each behind those it follows
  std::deque<Object> Objects;
  llvm::DenseMap<llvm::AllocaInst *, Object *> OfVariable;

  bool no(const llvm::Twine &Reason) {
    if (Why.empty())
      Why = Reason.str();
    return false;
  }
  std::nullptr_t none(const llvm::Twine &Reason) {
    no(Reason);
    return nullptr;
  }
  // The object and the byte in it that a pointer of the body points to.
  Place place(llvm::Value *Pointer);

private:
  llvm::DenseMap<std::pair<const OklLaneArgument *, unsigned>, Object *> OfArgument;

  Object *object(const OklLaneArgument *Of, unsigned Column);
  // What a pointer is computed from.
  enum RootKind { Unknown, Variable, Global, Parameter };
  std::pair<RootKind, const OklLaneArgument *> root(llvm::Value *Pointer);
};
