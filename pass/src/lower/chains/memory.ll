; Memory of a thread that is kept for the next time. In front of it are 64 bytes that say how much all of it is.
@okl.chains.memory = hidden thread_local global { ptr, i64 } zeroinitializer, align 8
@__dso_handle = external hidden global i8

declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @munmap(ptr, i64)
declare extern_weak i32 @__cxa_thread_atexit_impl(ptr, ptr, ptr)
declare ptr @llvm.threadlocal.address.p0(ptr)

; So many bytes, or null.
define hidden noalias ptr @okl.chains.take(i64 %bytes) noinline optnone nounwind {
  %slot = call ptr @llvm.threadlocal.address.p0(ptr @okl.chains.memory)
  %large = icmp ugt i64 %bytes, 1099511627776
  br i1 %large, label %no, label %look

look:
  %needed = add i64 %bytes, 64
  %kept = load ptr, ptr %slot, align 8
  store ptr null, ptr %slot, align 8
  %none = icmp eq ptr %kept, null
  br i1 %none, label %new, label %old

old:
  %room = load i64, ptr %kept, align 8
  %enough = icmp uge i64 %room, %needed
  br i1 %enough, label %have, label %small

small:
  %gone = call i32 @munmap(ptr %kept, i64 %room)
  br label %new

new:
  %more = add i64 %needed, 65535
  %all = and i64 %more, -65536
  ; Read and written, private and of no file.
  %made = call ptr @mmap(ptr null, i64 %all, i32 3, i32 34, i32 -1, i64 0)
  %failed = icmp eq ptr %made, inttoptr (i64 -1 to ptr)
  br i1 %failed, label %no, label %begin

begin:
  store i64 %all, ptr %made, align 8
  %place = getelementptr i8, ptr %slot, i64 8
  %before = load i64, ptr %place, align 8
  %first = icmp eq i64 %before, 0
  br i1 %first, label %ask, label %have

; It goes when the thread ends.
ask:
  store i64 1, ptr %place, align 8
  %known = icmp ne ptr @__cxa_thread_atexit_impl, null
  br i1 %known, label %note, label %have

note:
  %noted = call i32 @__cxa_thread_atexit_impl(ptr @okl.chains.end, ptr %slot, ptr @__dso_handle)
  br label %have

have:
  %memory = phi ptr [ %kept, %old ], [ %made, %begin ], [ %made, %ask ], [ %made, %note ]
  %result = getelementptr i8, ptr %memory, i64 64
  ret ptr %result

no:
  ret ptr null
}

; Gives it back.
define hidden void @okl.chains.give(ptr %memory) noinline optnone nounwind {
  %slot = call ptr @llvm.threadlocal.address.p0(ptr @okl.chains.memory)
  %begin = getelementptr i8, ptr %memory, i64 -64
  %kept = load ptr, ptr %slot, align 8
  %none = icmp eq ptr %kept, null
  br i1 %none, label %keep, label %drop

keep:
  store ptr %begin, ptr %slot, align 8
  ret void

drop:
  %room = load i64, ptr %begin, align 8
  %gone = call i32 @munmap(ptr %begin, i64 %room)
  ret void
}

define hidden void @okl.chains.end(ptr %slot) noinline optnone nounwind {
  %kept = load ptr, ptr %slot, align 8
  store ptr null, ptr %slot, align 8
  %none = icmp eq ptr %kept, null
  br i1 %none, label %done, label %drop

drop:
  %room = load i64, ptr %kept, align 8
  %gone = call i32 @munmap(ptr %kept, i64 %room)
  br label %done

done:
  ret void
}
