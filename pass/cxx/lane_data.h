// What the lanes of a loop work on. What the body reads of each element is gathered into vectors, one for each
// component; what it wrote is put back element by element, in their order. So elements that change the
// same target do so as they would one after the other.
#pragma once

#include "lane_body.h"

#include "llvm/IR/IRBuilder.h"

class LaneData : public LaneBody {
protected:
  LaneData(llvm::Function &Range, llvm::Function &Kernel,
           llvm::ArrayRef<OklLaneArgument> Arguments, unsigned Width);

  llvm::Function &Range;
  unsigned Width;
  llvm::BasicBlock *Entry;
  llvm::BasicBlock *Body = nullptr;
  llvm::IRBuilder<> B, AtEntry;
  llvm::PHINode *Number = nullptr; // of the first lane's element
  llvm::Value *From = nullptr, *To = nullptr;
  llvm::SmallVector<Object *, 8> Written; // in the order in which the body wrote them last

  llvm::FixedVectorType *vectorOf(llvm::Type *T) { return llvm::FixedVectorType::get(T, Width); }
  static bool isVector(llvm::Value *V) { return V->getType()->isVectorTy(); }
  // The value of all lanes as a vector.
  llvm::Value *splat(llvm::Value *V);
  llvm::Value *select(llvm::Value *Condition, llvm::Value *Then, llvm::Value *Else);

  // Whether the lanes' values of a component lie side by side.
  bool contiguous(Object &Of);
  // What a cell holds before the body.
  bool fetch(Object &Of, Cell &Here);
  // One lane after the other; in each, the arguments as the body wrote them.
  bool putBack();
  // Behind the loop: a global argument's lanes, from the first.
  void reduce(Object &Of, Cell &Here);
  // At the entry: whether what was expected of the maps is true and elements are enough.
  llvm::Value *isAsExpected();

private:
  llvm::DenseMap<llvm::Value *, llvm::Value *> Splats;
  llvm::DenseMap<std::pair<unsigned, unsigned>, llvm::SmallVector<llvm::Value *, 8>> Rows;
  llvm::DenseMap<unsigned, llvm::SmallVector<llvm::Value *, 8>> Targets; // by argument and column

  unsigned indexOf(const OklLaneArgument &A) { return &A - Arguments.data(); }
  void carry(Cell &Here, llvm::Value *Before);
  llvm::SmallVector<std::pair<unsigned, unsigned>, 4> pieces(Object &Of);
  llvm::Value *arity(const OklLaneArgument &A);
  llvm::ArrayRef<llvm::Value *> targets(const OklLaneArgument &A, unsigned Column);
  llvm::ArrayRef<llvm::Value *> rows(Object &Of);
  llvm::Value *component(llvm::Value *Row, Object &Of, unsigned At);
  llvm::Type *pieceType(Object &Of, unsigned Length);
  bool gather(Object &Of, unsigned Index);
  llvm::Value *join(llvm::Value *A, llvm::Value *B2);
  void transpose(llvm::SmallVectorImpl<llvm::Value *> &Squares);
  llvm::SmallVector<llvm::Value *, 8> toComponents(llvm::ArrayRef<llvm::Value *> From,
                                                   unsigned Length);
  llvm::SmallVector<llvm::Value *, 16> toRows(llvm::ArrayRef<llvm::Value *> Components);
};
