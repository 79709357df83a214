; An unknown option is an error that names the valid ones.
; RUN: not opt-22 -load-pass-plugin=%plugin -passes='okl-lower<gpu>' -disable-output %s 2>&1 | FileCheck --check-prefix=PARAMETER %s
; RUN: not opt-22 -load-pass-plugin=%plugin -okl-target=mpy -passes=okl-lower -disable-output %s 2>&1 | FileCheck --check-prefix=FLAG %s
; RUN: OKL_TARGET=cuda,hop not opt-22 -load-pass-plugin=%plugin -passes=okl-lower -disable-output %s 2>&1 | FileCheck --check-prefix=VARIABLE %s
; RUN: not opt-22 -load-pass-plugin=%plugin -passes='okl-lower<cpu;cuda>' -disable-output %s 2>&1 | FileCheck --check-prefix=ORDER %s
; RUN: not opt-22 -load-pass-plugin=%plugin -okl-target=mpi,cuda -passes=okl-lower -disable-output %s 2>&1 | FileCheck --check-prefix=RANKS %s
; PARAMETER: error: okl: unknown parameter 'gpu' of okl-lower; valid are: mpi, cpu, cuda, hip, spirv, strict
; FLAG: error: okl: unknown target 'mpy' of -okl-target; valid are: mpi, cpu, cuda, hip, spirv
; VARIABLE: error: okl: unknown target 'hop' in OKL_TARGET; valid are: mpi, cpu, cuda, hip, spirv
; ORDER: error: okl: target 'cuda' behind 'cpu', which is there whenever it is asked for: it comes last as a parameter of okl-lower; valid are: mpi, cpu, cuda, hip, spirv
; RANKS: error: okl: target 'mpi' goes with no other of -okl-target; valid are: mpi, cpu, cuda, hip, spirv
