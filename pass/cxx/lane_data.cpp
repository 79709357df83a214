// Reads are of whole rows, which are transposed, and so are writes; where elements may lead to the same
// target, each lane's part is put back before the next one's.
#include "lane_data.h"

#include "llvm/IR/Module.h"

using namespace llvm;

LaneData::LaneData(Function &Range, Function &Kernel, ArrayRef<OklLaneArgument> Arguments,
                   unsigned Width)
    : LaneBody(Kernel, Arguments), Range(Range), Width(Width), Entry(&Range.getEntryBlock()),
      B(Entry), AtEntry(Entry) {}

Value *LaneData::splat(Value *V) {
  if (isVector(V))
    return V;
  if (auto *C = dyn_cast<Constant>(V))
    return ConstantVector::getSplat(ElementCount::getFixed(Width), C);
  Value *&Found = Splats[V];
  if (!Found)
    Found = B.CreateVectorSplat(Width, V);
  return Found;
}

Value *LaneData::select(Value *Condition, Value *Then, Value *Else) {
  if (Then == Else)
    return Then;
  if (isVector(Condition) || isVector(Then) || isVector(Else)) {
    Then = splat(Then);
    Else = splat(Else);
  }
  return B.CreateSelect(Condition, Then, Else);
}

bool LaneData::fetch(Object &Of, Cell &Here) {
  if (Here.Now)
    return true;
  if (!Of.Argument) {
    Here.Now = PoisonValue::get(vectorOf(Of.T));
    return true;
  }
  const OklLaneArgument &A = *Of.Argument;
  unsigned Index = &Here - Of.Cells.data();
  if (A.Place == OklLaneNumber) {
    SmallVector<Constant *, 16> Lane;
    for (unsigned L = 0; L < Width; ++L)
      Lane.push_back(B.getInt32(L));
    Value *First = B.CreateTrunc(Number, B.getInt32Ty());
    Here.Now = B.CreateAdd(splat(First), ConstantVector::get(Lane));
    return true;
  }
  if (A.Access == OklLaneIncrement && (Of.indirect() || Of.global())) {
    // Adding to this changes nothing, not even the sign of zero.
    Constant *Zero = Of.T->isFloatingPointTy() ? ConstantFP::getNegativeZero(Of.T)
                                               : Constant::getNullValue(Of.T);
    Here.Now = splat(Zero);
    if (Of.global())
      carry(Here, Here.Now);
    return true;
  }
  if (Of.global()) {
    Value *Address = AtEntry.CreateConstInBoundsGEP1_64(Of.T, unwrap(A.Data), Index);
    Value *Loaded = AtEntry.CreateAlignedLoad(Of.T, Address, Align(A.Bytes));
    if (A.Access == OklLaneRead)
      Here.Now = Loaded;
    else
      carry(Here, AtEntry.CreateVectorSplat(Width, Loaded));
    return true;
  }
  return gather(Of, Index);
}

void LaneData::carry(Cell &Here, Value *Before) {
  IRBuilder<> AtTop(Body, Body->begin());
  Here.Carried = AtTop.CreatePHI(Before->getType(), 2);
  Here.Carried->addIncoming(Before, Entry);
  Here.Now = Here.Carried;
}

// Pieces of a row that are moved as vectors: position and length.
SmallVector<std::pair<unsigned, unsigned>, 4> LaneData::pieces(Object &Of) {
  SmallVector<std::pair<unsigned, unsigned>, 4> Found;
  unsigned Most =
      Of.Argument->ByComponent ? 1 : std::min<unsigned>(Width, 32 / Of.Argument->Bytes);
  unsigned Count = Of.Cells.size();
  for (unsigned At = 0; At < Count;) {
    unsigned Length = Most;
    while (Length > Count - At)
      Length /= 2;
    Found.push_back({At, Length});
    At += Length;
  }
  return Found;
}

Value *LaneData::arity(const OklLaneArgument &A) {
  return A.ExpectedArity ? B.getInt64(A.ExpectedArity) : unwrap(A.Arity);
}

// The elements of the target set that the lanes' elements lead to.
ArrayRef<Value *> LaneData::targets(const OklLaneArgument &A, unsigned Column) {
  const OklLaneArgument &Leader = Arguments[A.Leader];
  auto &Found = Targets[indexOf(Leader) * 64 + Column];
  if (Found.empty()) {
    Value *Arity = arity(Leader);
    Value *First = B.CreateGEP(B.getInt32Ty(), unwrap(Leader.Map), B.CreateMul(Number, Arity));
    for (unsigned L = 0; L < Width; ++L) {
      Value *Distance = B.CreateAdd(B.CreateMul(B.getInt64(L), Arity), B.getInt64(Column));
      Value *At = B.CreateGEP(B.getInt32Ty(), First, Distance);
      Value *Target = B.CreateAlignedLoad(B.getInt32Ty(), At, Align(4));
      Found.push_back(B.CreateSExt(Target, B.getInt64Ty()));
    }
  }
  return Found;
}

// Where the lanes' elements begin.
ArrayRef<Value *> LaneData::rows(Object &Of) {
  const OklLaneArgument &A = *Of.Argument;
  auto &Found = Rows[{indexOf(A), Of.Column}];
  if (!Found.empty())
    return Found;
  Value *Data = unwrap(A.Data), *Size = unwrap(A.Size);
  SmallVector<Value *, 8> New;
  if (Of.indirect()) {
    for (Value *Target : targets(A, Of.Column))
      New.push_back(B.CreateGEP(B.getInt8Ty(), Data, B.CreateNSWMul(Target, Size)));
  } else {
    Value *First = B.CreateGEP(B.getInt8Ty(), Data, B.CreateNSWMul(Number, Size));
    for (unsigned L = 0; L < Width; ++L)
      New.push_back(B.CreateGEP(B.getInt8Ty(), First, B.CreateMul(B.getInt64(L), Size)));
  }
  auto &Place = Rows[{indexOf(A), Of.Column}];
  Place = New;
  return Place;
}

bool LaneData::contiguous(Object &Of) {
  auto *Size = dyn_cast<ConstantInt>(unwrap(Of.Argument->Size));
  return !Of.indirect() && Size && Size->getSExtValue() == Of.Argument->Bytes;
}

// Where a component is of the element that begins at `Row`.
Value *LaneData::component(Value *Row, Object &Of, unsigned At) {
  const OklLaneArgument &A = *Of.Argument;
  if (A.ByComponent)
    return B.CreateGEP(B.getInt8Ty(), Row, B.CreateMul(unwrap(A.Stride), B.getInt64(At)));
  return B.CreateConstInBoundsGEP1_64(Of.T, Row, At);
}

Type *LaneData::pieceType(Object &Of, unsigned Length) {
  return Length == 1 ? Of.T : FixedVectorType::get(Of.T, Length);
}

bool LaneData::gather(Object &Of, unsigned Index) {
  ArrayRef<Value *> Where = rows(Of);
  Align Alignment(Of.Argument->Bytes);
  auto Take = [&](unsigned Index, Value *V) {
    if (!Of.Cells[Index].Now)
      Of.Cells[Index].Now = V;
  };
  if (contiguous(Of)) {
    Take(Index, B.CreateAlignedLoad(vectorOf(Of.T), component(Where[0], Of, Index), Alignment));
    return true;
  }
  for (auto [At, Length] : pieces(Of)) {
    SmallVector<Value *, 16> Loaded;
    for (Value *Row : Where)
      Loaded.push_back(
          B.CreateAlignedLoad(pieceType(Of, Length), component(Row, Of, At), Alignment));
    if (Length == 1) {
      Value *All = PoisonValue::get(vectorOf(Of.T));
      for (unsigned L = 0; L < Width; ++L)
        All = B.CreateInsertElement(All, Loaded[L], B.getInt64(L));
      Take(At, All);
      continue;
    }
    SmallVector<Value *, 8> Components = toComponents(Loaded, Length);
    for (unsigned K = 0; K < Length; ++K)
      Take(At + K, Components[K]);
  }
  return true;
}

Value *LaneData::join(Value *A, Value *B2) {
  unsigned Length = cast<FixedVectorType>(A->getType())->getNumElements();
  SmallVector<int, 16> Indices;
  for (unsigned I = 0; I < 2 * Length; ++I)
    Indices.push_back(I);
  return B.CreateShuffleVector(A, B2, Indices);
}

// Exchanges rows and columns of each square of `Vectors`, which are as many as a square is wide.
void LaneData::transpose(SmallVectorImpl<Value *> &Squares) {
  for (unsigned Step = 1; Step < Squares.size(); Step *= 2)
    for (unsigned J = 0; J < Squares.size(); ++J) {
      if (J & Step)
        continue;
      SmallVector<int, 16> Low, High;
      for (unsigned P = 0; P < Width; ++P) {
        Low.push_back(P & Step ? Width + P - Step : P);
        High.push_back(P & Step ? Width + P : P + Step);
      }
      Value *First = Squares[J], *Second = Squares[J + Step];
      Squares[J] = B.CreateShuffleVector(First, Second, Low);
      Squares[J + Step] = B.CreateShuffleVector(First, Second, High);
    }
}

// Vectors of a component each, from rows of `Length` components.
SmallVector<Value *, 8> LaneData::toComponents(ArrayRef<Value *> From, unsigned Length) {
  SmallVector<Value *, 8> Squares;
  for (unsigned J = 0; J < Length; ++J) {
    SmallVector<Value *, 8> Parts;
    for (unsigned L = J; L < Width; L += Length)
      Parts.push_back(From[L]);
    for (; Parts.size() > 1; Parts.resize(Parts.size() / 2))
      for (unsigned P = 0; P < Parts.size() / 2; ++P)
        Parts[P] = join(Parts[2 * P], Parts[2 * P + 1]);
    Squares.push_back(Parts[0]);
  }
  transpose(Squares);
  return Squares;
}

SmallVector<Value *, 16> LaneData::toRows(ArrayRef<Value *> Components) {
  SmallVector<Value *, 8> Squares(Components);
  unsigned Length = Components.size();
  transpose(Squares);
  SmallVector<Value *, 16> Found;
  for (unsigned L = 0; L < Width; ++L) {
    SmallVector<int, 8> Indices;
    for (unsigned K = 0; K < Length; ++K)
      Indices.push_back(L / Length * Length + K);
    Found.push_back(B.CreateShuffleVector(Squares[L % Length], Indices));
  }
  return Found;
}

bool LaneData::putBack() {
  struct Part {
    Object *Of;
    unsigned At, Length;
    SmallVector<Value *, 16> New; // of each lane
  };
  SmallVector<Part, 8> Parts;
  for (Object *Of : Written) {
    if (Of->global() || Of->Argument->Place == OklLaneNumber)
      continue;
    if (Of->indirect() && any_of(Of->Cells, [](const Cell &Here) { return Here.Conditional; }))
      return no("it writes through a map on a condition");
    if (contiguous(*Of)) {
      for (unsigned At = 0; At < Of->Cells.size(); ++At)
        if (Of->Cells[At].Written)
          B.CreateAlignedStore(splat(Of->Cells[At].Now), component(rows(*Of)[0], *Of, At),
                               Align(Of->Argument->Bytes));
      continue;
    }
    for (auto [At, Length] : pieces(*Of)) {
      ArrayRef<Cell> Cells = ArrayRef<Cell>(Of->Cells).slice(At, Length);
      bool All = all_of(Cells, [](const Cell &Here) { return Here.Written; });
      if (All && Length > 1) {
        SmallVector<Value *, 8> Components;
        for (const Cell &Here : Cells)
          Components.push_back(splat(Here.Now));
        Parts.push_back({Of, At, Length, toRows(Components)});
        continue;
      }
      for (unsigned K = 0; K < Length; ++K) {
        if (!Cells[K].Written)
          continue;
        Part One{Of, At + K, 1, {}};
        for (unsigned L = 0; L < Width; ++L)
          One.New.push_back(B.CreateExtractElement(splat(Cells[K].Now), B.getInt64(L)));
        Parts.push_back(One);
      }
    }
  }
  for (unsigned L = 0; L < Width; ++L)
    for (Part &P : Parts) {
      const OklLaneArgument &A = *P.Of->Argument;
      Align Alignment(A.Bytes);
      Value *Address = component(rows(*P.Of)[L], *P.Of, P.At);
      Value *New = P.New[L];
      if (A.Access == OklLaneIncrement && P.Of->indirect()) {
        Value *Old = B.CreateAlignedLoad(New->getType(), Address, Alignment);
        New = P.Of->T->isFloatingPointTy() ? B.CreateFAdd(Old, New) : B.CreateAdd(Old, New);
      }
      B.CreateAlignedStore(New, Address, Alignment);
    }
  return true;
}

Value *LaneData::isAsExpected() {
  Value *Right =
      AtEntry.CreateICmpSLE(AtEntry.CreateNSWAdd(From, AtEntry.getInt64(Width)), To);
  auto Also = [&](Value *Condition) { Right = AtEntry.CreateAnd(Right, Condition); };
  for (const OklLaneArgument &A : Arguments) {
    if (A.FoundSize)
      Also(AtEntry.CreateICmpEQ(unwrap(A.FoundSize), unwrap(A.Size)));
    if (A.Place != OklLaneMapped && A.Place != OklLaneColumns)
      continue;
    const OklLaneArgument &Leader = Arguments[A.Leader];
    if (&Leader != &A) {
      Also(AtEntry.CreateICmpEQ(unwrap(A.Map), unwrap(Leader.Map)));
      Also(AtEntry.CreateICmpEQ(unwrap(A.Arity), unwrap(Leader.Arity)));
    } else if (A.ExpectedArity) {
      Also(AtEntry.CreateICmpEQ(unwrap(A.Arity), AtEntry.getInt64(A.ExpectedArity)));
    }
  }
  return Right;
}

void LaneData::reduce(Object &Of, Cell &Here) {
  const OklLaneArgument &A = *Of.Argument;
  Here.Carried->addIncoming(splat(Here.Now), Body);
  if (!Here.Written)
    return;
  unsigned Index = &Here - Of.Cells.data();
  Value *Address = B.CreateConstInBoundsGEP1_64(Of.T, unwrap(A.Data), Index);
  Value *Total = B.CreateAlignedLoad(Of.T, Address, Align(A.Bytes));
  bool Floating = Of.T->isFloatingPointTy();
  for (unsigned L = 0; L < Width; ++L) {
    Value *Own = B.CreateExtractElement(Here.Now, B.getInt64(L));
    if (A.Access == OklLaneIncrement) {
      Total = Floating ? B.CreateFAdd(Total, Own) : B.CreateAdd(Total, Own);
      continue;
    }
    bool Less = A.Access == OklLaneMin;
    CmpInst::Predicate Better =
        Floating   ? (Less ? CmpInst::FCMP_OLT : CmpInst::FCMP_OGT)
        : A.Signed ? (Less ? CmpInst::ICMP_SLT : CmpInst::ICMP_SGT)
                   : (Less ? CmpInst::ICMP_ULT : CmpInst::ICMP_UGT);
    Total = B.CreateSelect(B.CreateCmp(Better, Own, Total), Own, Total);
  }
  B.CreateAlignedStore(Total, Address, Align(A.Bytes));
}
