// SPDX-License-Identifier: MIT
//
// Checked.java: threads of Java that collect garbage, overflow their stacks, take null for an object (both by signals of
// the virtual machine) and call C, under -Xcheck:jni.
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Checked {
    static native long inC(long value, byte[] bytes);

    static boolean hasC;
    static Object nothing;

    static int deeper(int n) {
        return n < 0 ? 0 : deeper(n + 1) + 1;
    }

    static long work(long number) {
        Map<String, Long> words = new HashMap<>();
        long value = number;
        long caught = 0;
        for (int i = 0; i < 20000; i++) {
            value = value * 6364136223846793005L + 1442695040888963407L;
            words.merge("w" + Math.floorMod(value, 997), 1L, Long::sum);
            if (i % 2000 == 0) {
                try {
                    nothing.hashCode();
                } catch (NullPointerException e) {
                    caught++;
                }
            }
            if (hasC && i % 100 == 0) {
                value += inC(value, new byte[100]);
            }
        }
        try {
            deeper(0);
        } catch (StackOverflowError e) {
            caught++;
        }
        return words.values().stream().mapToLong(Long::longValue).sum() + caught + value;
    }

    public static void main(String[] arguments) throws Exception {
        if (arguments.length > 0) {
            System.load(arguments[0]);
            hasC = true;
        }
        long[] sums = new long[6];
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < sums.length; i++) {
            final int number = i;
            threads.add(new Thread(() -> sums[number] = work(number)));
            threads.get(i).start();
        }
        long sum = 0;
        for (int i = 0; i < sums.length; i++) {
            threads.get(i).join();
            sum = sum * 31 + sums[i];
        }
        System.out.println(sum);
        System.exit(42);
    }
}
