// SPDX-License-Identifier: MIT OR Apache-2.0
// Hand-written JNI functions: one for each way in which C accesses Java's bytes. Each function uses one way and does
// nothing else. The C functions that do the work are in ts/clearway-lab/native/plain.c, which is compiled in.
#include <jni.h>
#include <stdint.h>
#include <string.h>

// plain.c
void lab_fill(uint8_t *data, size_t size, int value);
int lab_reference(size_t size, int fresh, size_t batch, double *ns, size_t times);

#define PEER(result, name) JNIEXPORT result JNICALL Java_clearway_lab_jni_Peers_##name

// Runs the whole measurement in C, with its clock. Fills `ns` with the times.
PEER(jboolean, reference)(JNIEnv *env, jclass type, jlong size, jboolean fresh, jlong batch, jdoubleArray ns) {
  (void)type;
  jdouble *times = (*env)->GetDoubleArrayElements(env, ns, NULL);
  if (times == NULL) return JNI_FALSE;
  const jsize count = (*env)->GetArrayLength(env, ns);
  const int good = lab_reference((size_t)size, fresh, (size_t)batch, times, (size_t)count);
  (*env)->ReleaseDoubleArrayElements(env, ns, times, 0);
  return (jboolean)good;
}

// Fills a direct buffer through its address.
PEER(void, fillDirect)(JNIEnv *env, jclass type, jobject buffer, jlong size, jint value) {
  (void)type;
  lab_fill((*env)->GetDirectBufferAddress(env, buffer), (size_t)size, value);
}

// Fills an array through a copy of its elements. HotSpot copies them out and back.
PEER(void, fillElements)(JNIEnv *env, jclass type, jbyteArray array, jint value) {
  (void)type;
  jbyte *bytes = (*env)->GetByteArrayElements(env, array, NULL);
  if (bytes == NULL) return; // The JVM throws OutOfMemoryError on return.
  lab_fill((uint8_t *)bytes, (size_t)(*env)->GetArrayLength(env, array), value);
  (*env)->ReleaseByteArrayElements(env, array, bytes, 0);
}
