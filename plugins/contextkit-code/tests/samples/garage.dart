import 'dart:async';

import 'package:meta/meta.dart';

/// What can be parked.
abstract class Vehicle {
  const Vehicle(this.plate);

  Vehicle.unknown() : plate = '?' {
    print('no plate');
  }

  factory Vehicle.parse(String text) => Car(text.trim());

  const factory Vehicle.bike() = Bike;

  final String plate;

  int get wheels;

  @override
  bool operator ==(Object other) {
    return other is Vehicle && other.plate == plate;
  }
}

/// Counts what it sees.
mixin Counting on Garage {
  int _seen = 0;

  set seen(int value) => _seen = value;
}

class Garage<T extends Vehicle> {
  final List<T> _parked = [];

  /// Parks one vehicle.
  ///
  /// Waits until there is room.
  @protected
  @useResult
  static Future<bool> park(
    Garage garage, {
    required Vehicle vehicle,
  }) async {
    bool isFree() => garage._parked.length < 10;

    return isFree();
  }

  external void open();

  Garage operator [](int place) => this;
}

typedef Rule = bool Function(Vehicle);

enum Size {
  small,
  large;

  bool get fits => this == small;
}

extension Plates on String {
  String get plate => toUpperCase();
}

extension on int {
  int twice() => this * 2;
}

extension type PlaceId(int id) {
  PlaceId next() => PlaceId(id + 1);
}

int get capacity => 10;

void main(List<String> arguments) {
  print(capacity);
}
