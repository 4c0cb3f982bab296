#import "Lamp.h"
#import <Foundation/Foundation.h>

NS_ASSUME_NONNULL_BEGIN

typedef NS_ENUM(NSInteger, LampColour) {
    LampColourWarm,
    LampColourCold,
};

struct Beam {
    double width;
};

#define LAMP_CLAMP(value) MIN(MAX((value), 0), 1)

/// What can be switched.
@protocol Switchable <NSObject>
- (void)toggle;
@optional
- (BOOL)dim:(double)level over:(NSTimeInterval)seconds;
@end

@interface Lamp ()
@property (nonatomic, assign) double level;
- (void)flicker API_AVAILABLE(ios(13.0), macos(10.15));
@end

static double clamped(double level) {
    return LAMP_CLAMP(level);
}

/// A lamp in a room.
@implementation Lamp

@synthesize level = _level;

/**
 * Makes a lamp.
 * @param name what it is called
 */
- (instancetype)initWithName:(NSString *)name
                       level:(double)level {
    self = [super init];
    if (self) {
        _level = clamped(level);
    }
    return self;
}

+ (instancetype)lamp {
    return [[self alloc] initWithName:@"lamp" level:1.0];
}

- (void)lamp:(Lamp *)lamp didDimTo:(double)level {
    void (^done)(void) = ^{
        NSLog(@"done");
    };
    done();
}

@end

@implementation Lamp (Switching)

- (void)toggle {
    self.level = self.level > 0 ? 0 : 1;
}

@end

NS_ASSUME_NONNULL_END
