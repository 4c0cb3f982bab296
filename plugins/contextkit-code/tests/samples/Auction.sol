// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;

import {Ownable} from "./Ownable.sol";
import "./IBidder.sol";

type Lot is uint256;

error TooLate(uint256 end);

/// @title What can be sold.
interface ISale {
    function bid(Lot lot) external payable returns (bool);
}

library Prices {
    function higher(uint256 a, uint256 b) internal pure returns (uint256) {
        return a > b ? a : b;
    }
}

/**
 * @dev Sells one lot to whoever bids most.
 */
abstract contract Auction is ISale, Ownable {
    using Prices for uint256;

    enum Phase {
        Open,
        Closed
    }

    struct Bid {
        address bidder;
        uint256 amount;
    }

    event Sold(Lot indexed lot, address winner);

    error TooLow(uint256 least);

    Phase public phase;
    mapping(Lot => Bid) private bids;

    constructor(uint256 least) Ownable(msg.sender) {
        phase = Phase.Open;
    }

    modifier whileOpen() {
        require(phase == Phase.Open, "closed");
        _;
    }

    /**
     * @notice Offers money for a lot.
     * @param lot what to bid for
     */
    function bid(Lot lot) external payable override whileOpen returns (bool) {
        bids[lot] = Bid(msg.sender, msg.value);
        return true;
    }

    function close() public virtual;

    receive() external payable {}

    fallback() external payable {
        revert TooLate(block.timestamp);
    }
}

function half(uint256 amount) pure returns (uint256) {
    return amount / 2;
}
