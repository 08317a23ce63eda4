"""Path of 2.x for all operations on sound."""

from mindspore.dataset.audio.effects import Contrast, DCShift, Dither, Fade, Flanger, Gain, MuLawDecoding, MuLawEncoding, Overdrive, Phaser, Vol
from mindspore.dataset.audio.features import AmplitudeToDB, ComputeDeltas, DBToAmplitude, DetectPitchFrequency, FrequencyMasking, MaskAlongAxis, MaskAlongAxisIID, SlidingWindowCmn, TimeMasking
from mindspore.dataset.audio.filters import AllpassBiquad, BandBiquad, BandpassBiquad, BandrejectBiquad, BassBiquad, Biquad, DeemphBiquad, EqualizerBiquad, Filtfilt, HighpassBiquad, LFilter, LowpassBiquad, RiaaBiquad, TrebleBiquad
from mindspore.dataset.audio.mel import LFCC, MFCC, InverseMelScale, MelScale, MelSpectrogram
from mindspore.dataset.audio.spectra import GriffinLim, InverseSpectrogram, SpectralCentroid, Spectrogram
from mindspore.dataset.audio.timing import Angle, ComplexNorm, Magphase, PhaseVocoder, PitchShift, Resample, TimeStretch
from mindspore.dataset.audio.operation import AudioTensorOperation
from mindspore.dataset.audio.voice import Vad
