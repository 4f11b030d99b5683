// SPDX-License-Identifier: MIT OR Apache-2.0
// Counts allocated objects. JVMTI samples allocations; with an interval of 0, it reports every one of them. The event is
// on only while the lab counts, so timed code runs without it.
#include <jni.h>
#include <jvmti.h>
#include <stdatomic.h>
#include <string.h>

static jvmtiEnv *jvmti;
static atomic_llong objects;

// The JVM calls this on the allocating thread. It must not allocate, and it takes no lock.
static void JNICALL on_allocation(jvmtiEnv *env, JNIEnv *jni, jthread thread, jobject object, jclass type, jlong size) {
  (void)env, (void)jni, (void)thread, (void)object, (void)type, (void)size;
  atomic_fetch_add_explicit(&objects, 1, memory_order_relaxed);
}

#define ALLOCATIONS(result, name) JNIEXPORT result JNICALL Java_clearway_lab_jni_Allocations_##name

ALLOCATIONS(jint, prepare)(JNIEnv *env, jclass class) {
  (void)class;
  JavaVM *vm;
  if ((*env)->GetJavaVM(env, &vm) != JNI_OK) return JVMTI_ERROR_INTERNAL;
  if ((*vm)->GetEnv(vm, (void **)&jvmti, JVMTI_VERSION_11) != JNI_OK) return JVMTI_ERROR_UNSUPPORTED_VERSION;
  jvmtiCapabilities wanted;
  memset(&wanted, 0, sizeof wanted);
  wanted.can_generate_sampled_object_alloc_events = 1;
  jvmtiError error = (*jvmti)->AddCapabilities(jvmti, &wanted);
  if (error != JVMTI_ERROR_NONE) return (jint)error;
  jvmtiEventCallbacks callbacks;
  memset(&callbacks, 0, sizeof callbacks);
  callbacks.SampledObjectAlloc = on_allocation;
  error = (*jvmti)->SetEventCallbacks(jvmti, &callbacks, (jint)sizeof callbacks);
  if (error != JVMTI_ERROR_NONE) return (jint)error;
  return (jint)(*jvmti)->SetHeapSamplingInterval(jvmti, 0);
}

static void set_mode(jvmtiEventMode mode) {
  if (jvmti != NULL) (*jvmti)->SetEventNotificationMode(jvmti, mode, JVMTI_EVENT_SAMPLED_OBJECT_ALLOC, NULL);
}

ALLOCATIONS(void, begin)(JNIEnv *env, jclass class) {
  (void)env, (void)class;
  set_mode(JVMTI_ENABLE);
}

ALLOCATIONS(void, reset)(JNIEnv *env, jclass class) {
  (void)env, (void)class;
  atomic_store(&objects, 0);
}

ALLOCATIONS(jlong, counted)(JNIEnv *env, jclass class) {
  (void)env, (void)class;
  return (jlong)atomic_load(&objects);
}

ALLOCATIONS(void, end)(JNIEnv *env, jclass class) {
  (void)env, (void)class;
  set_mode(JVMTI_DISABLE);
}
