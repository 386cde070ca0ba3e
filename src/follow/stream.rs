pub struct Stream;
pub struct FollowError;
