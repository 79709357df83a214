// OP2's timers of sections of a program.
#ifndef OKL_OP_PROFILE_H
#define OKL_OP_PROFILE_H

#ifdef __cplusplus
extern "C" {
#endif

void op_profile_start(char const *name);
void op_profile_enter(char const *name);
void op_profile_enter_kernel(char const *name, char const *target, char const *variant);
void op_profile_next(char const *name);
void op_profile_exit(void);
void op_profile_end(void);
void op_profile_output(void);
void op_profile_output_json(char const *file);

#ifdef __cplusplus
}
#endif

#endif
