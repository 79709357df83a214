; An unknown option is an error that names the valid ones.
; RUN: not opt-22 -load-pass-plugin=%plugin -passes='okl-lower<gpu>' -disable-output %s 2>&1 | FileCheck --check-prefix=PARAMETER %s
; RUN: not opt-22 -load-pass-plugin=%plugin -okl-target=mpy -passes=okl-lower -disable-output %s 2>&1 | FileCheck --check-prefix=FLAG %s
; RUN: OKL_TARGET=cuda not opt-22 -load-pass-plugin=%plugin -passes=okl-lower -disable-output %s 2>&1 | FileCheck --check-prefix=VARIABLE %s
; PARAMETER: error: okl: unknown parameter 'gpu' of okl-lower; valid are: mpi, cpu, strict
; FLAG: error: okl: unknown target 'mpy' of -okl-target; valid are: mpi, cpu
; VARIABLE: error: okl: unknown target 'cuda' in OKL_TARGET; valid are: mpi, cpu
