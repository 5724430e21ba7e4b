"""The codec: messages of galloon.v1 to and from values, the same for both sides of the wire.

| module | value | message |
|---|---|---|
| `utterance`, `lattice` | what engines said | `Utterance` |
| `feedback` | `TrueText`, `TrueTokens`, `ShownGains`, `Score` | `Feedback` |
| `spec` | `CombinerSpec` | `LearnerSpec` |
| `answer` | `Opened`, `Choice`, `Lesson`, `Problem` | `CombineResponse` |
| `explanation` | `Explanation` | `ExplainUtteranceResponse` |
| `learner` | `LearnerInfo`, `Statistics`, `Snapshot` | `Learner`, `Statistics`, `SnapshotLearnerResponse` |
| `request` | | `CombineRequest` |

Each `..._to_wire` has a `..._from_wire` that is its inverse. What is malformed is `errors.InvalidMessage`, what is
too large `errors.MessageTooLarge`; both name the field.
"""
