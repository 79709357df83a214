# find_package(okl) with clang 22 as compiler: what is linked with okl::okl is compiled with okl's plugin,
# and gets those of the run-time libraries that it refers to. With okl-cc and okl-c++ as compilers
# there is no need for it.
get_filename_component(okl_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." REALPATH)

foreach(okl_language C CXX)
  if(CMAKE_${okl_language}_COMPILER_LOADED AND NOT (CMAKE_${okl_language}_COMPILER_ID STREQUAL "Clang"
      AND CMAKE_${okl_language}_COMPILER_VERSION MATCHES "^22\\."))
    set(okl_FOUND FALSE)
    set(okl_NOT_FOUND_MESSAGE
      "okl is a plugin of clang 22, and the ${okl_language} compiler is ${CMAKE_${okl_language}_COMPILER}: \
set CMAKE_${okl_language}_COMPILER to clang 22, or to okl's own driver in ${okl_prefix}/bin")
    return()
  endif()
endforeach()

if(NOT TARGET okl::okl)
  add_library(okl::okl INTERFACE IMPORTED)
  set_target_properties(okl::okl PROPERTIES
    INTERFACE_COMPILE_OPTIONS
      "$<$<COMPILE_LANGUAGE:C,CXX>:-fpass-plugin=${okl_prefix}/lib/libokl_pass.so>;$<$<COMPILE_LANGUAGE:C,CXX>:SHELL:-idirafter ${okl_prefix}/include/okl/op2 -idirafter ${okl_prefix}/include/okl/okl>"
    # Behind the objects: a linker takes what is still missing then.
    INTERFACE_LINK_LIBRARIES
      "-Wl,--push-state,-Bdynamic,--as-needed,--library-path=${okl_prefix}/lib/okl-link,--library-path=${okl_prefix}/lib,--library=okl_mpi,--library=okl_op2,--library=okl_cpu,--library=okl_gpu,--pop-state,-rpath,${okl_prefix}/lib")
endif()
