/* SPDX-License-Identifier: MIT
 *
 * checked.c: what Checked.java calls.
 */
#include <jni.h>
#include <stdlib.h>
#include <string.h>

JNIEXPORT jlong JNICALL Java_Checked_inC(JNIEnv *env, jclass self, jlong value, jbyteArray bytes);

JNIEXPORT jlong JNICALL Java_Checked_inC(JNIEnv *env, jclass self, jlong value, jbyteArray bytes)
{
    jsize length = (*env)->GetArrayLength(env, bytes);
    jbyte *copy = malloc((size_t)length);
    (void)self;
    (*env)->GetByteArrayRegion(env, bytes, 0, length, copy);
    memset(copy, (int)(value & 0x7f), (size_t)length);
    (*env)->SetByteArrayRegion(env, bytes, 0, length, copy);
    jlong sum = copy[0] + length;
    free(copy);
    return sum;
}
