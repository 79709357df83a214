; An unknown option is an error that names the valid ones.
; RUN: not opt-22 -load-pass-plugin=%plugin -passes='okl-lower<gpu>' -disable-output %s 2>&1 | FileCheck --check-prefix=PARAMETER %s
; RUN: not opt-22 -load-pass-plugin=%plugin -okl-target=mpy -passes=okl-lower -disable-output %s 2>&1 | FileCheck --check-prefix=FLAG %s
; RUN: OKL_TARGET=cuda,hop not opt-22 -load-pass-plugin=%plugin -passes=okl-lower -disable-output %s 2>&1 | FileCheck --check-prefix=VARIABLE %s
; RUN: not opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cpu;cuda>' -disable-output %s 2>&1 | FileCheck --check-prefix=ORDER %s
; RUN: not opt-22 -load-pass-plugin=%plugin -okl-target=mpi,cuda -passes=okl-lower -disable-output %s 2>&1 | FileCheck --check-prefix=RANKS %s
; RUN: not opt-22 -load-pass-plugin=%plugin -passes='okl-lower<mpi+cuda;mpi+hip>' -disable-output %s 2>&1 | FileCheck --check-prefix=TWICE %s
; RUN: not opt-22 -load-pass-plugin=%plugin -okl-target=mpi+cpu -passes=okl-lower -disable-output %s 2>&1 | FileCheck --check-prefix=PROCESSOR %s
; RUN: opt-22 -load-pass-plugin=%plugin -okl-target=mpi+cuda,hip,cpu -passes=okl-lower -disable-output %s
; TWICE: error: okl: target 'mpi+hip' is not the first one: 'mpi+' is said once as a parameter of okl-lower; valid are:
; PROCESSOR: error: okl: target 'mpi+cpu': behind 'mpi+' stands a kind of device of -okl-target; valid are:
; PARAMETER: error: okl: unknown parameter 'gpu' of okl-lower; valid are: mpi, cpu, cuda, hip, spirv, mpi+cuda, mpi+hip, mpi+spirv, strict, fuse
; FLAG: error: okl: unknown target 'mpy' of -okl-target; valid are: mpi, cpu, cuda, hip, spirv, mpi+cuda, mpi+hip, mpi+spirv
; VARIABLE: error: okl: unknown target 'hop' in OKL_TARGET; valid are: mpi, cpu, cuda, hip, spirv, mpi+cuda, mpi+hip, mpi+spirv
; ORDER: error: okl: target 'cuda' behind 'cpu', which is there whenever it is asked for: it comes last as a parameter of okl-lower; valid are: mpi, cpu, cuda, hip, spirv, mpi+cuda, mpi+hip, mpi+spirv
; RANKS: error: okl: target 'mpi' goes with no other (ranks with a device each: 'mpi+cuda') of -okl-target; valid are: mpi, cpu, cuda, hip, spirv, mpi+cuda, mpi+hip, mpi+spirv
