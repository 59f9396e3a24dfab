package shop;

public class Shop {
    public static final int limit = 10;

    public void sell(int n) {
        if (n > limit) n = limit;
    }
}
