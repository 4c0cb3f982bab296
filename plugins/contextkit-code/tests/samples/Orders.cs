using System;

namespace Shop.Orders
{
    /// <summary>An order.</summary>
    [Serializable]
    public class Order : IOrder
    {
        public int Total { get; private set; }

        public Order(int total)
        {
            Total = total;
        }

        /// <summary>Adds a line.</summary>
        public void Add(int price)
        {
            Total += price;
        }

        public enum State { Open, Closed }
    }

    public interface IOrder
    {
        void Add(int price);
    }

    public struct Line
    {
        public int Price;
    }

    public record Receipt(int Total);

    public delegate void Changed(Order order);
}
