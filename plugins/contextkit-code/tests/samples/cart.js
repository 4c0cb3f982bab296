import { format } from "./format.js";

/** A shopping cart. */
export class Cart {
  #items = [];

  /**
   * Add an item.
   * @param {string} item what to add
   */
  add(item) {
    this.#items.push(item);
  }

  static empty() {
    return new Cart();
  }

  get size() {
    return this.#items.length;
  }
}

// The total of all prices.
export function total(prices) {
  return prices.reduce((sum, price) => sum + price, 0);
}

/** Format a price. */
const show = (price) => format(price);

export default function checkout(cart) {
  return cart.size > 0;
}

function* pages(cart) {
  yield cart;
}

exports.refund = function (order) {
  return -order.total;
};

Cart.prototype.clear = function clear() {
  this.add(null);
};
