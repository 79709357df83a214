#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define tid ((int)__nvvm_read_ptx_sreg_tid_x())
#define ntid ((int)__nvvm_read_ptx_sreg_ntid_x())
#define ctaid ((int)__nvvm_read_ptx_sreg_ctaid_x())
#define nctaid ((int)__nvvm_read_ptx_sreg_nctaid_x())
#define gid (ctaid * ntid + tid)
#define bar() __nvvm_bar_sync(0)
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
