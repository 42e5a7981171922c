"""
Linear probes on two sets of embeddings
=======================================

Is a property linearly readable from a representation? With enough dimensions *any*
labels are. Two sets of word vectors, of 200 dimensions each, are trained here on the
same 300 news texts (the Lee corpus, which comes with gensim): Word2Vec knows words by
their neighbours alone, FastText by their letters too. Which of them knows that a word
ends in -ed or -ing? Beside it stand shuffled labels, and Cover's count, the share of
all labellings that are separable at this size. They are small models of a small text,
since nothing is fetched here; vectors of your own take their place in one line.
"""

import matplotlib.pyplot as plt
import numpy as np
from gensim.models import FastText, Word2Vec
from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

import linsep
from linsep.figure_style import BLACK, BLUE, ORANGE, style

with open(datapath("lee_background.cor"), encoding="utf-8") as corpus:
    texts = [simple_preprocess(line) for line in corpus]
settings = {"vector_size": 200, "min_count": 5, "epochs": 15, "seed": 1, "workers": 1}
embeddings = {
    "Word2Vec": Word2Vec(texts, **settings).wv,
    "FastText": FastText(texts, bucket=20_000, **settings).wv,
}
words = np.array(embeddings["Word2Vec"].index_to_key)  # the commonest first
ends = np.array([word.endswith(("ed", "ing")) for word in words])
chosen = np.r_[np.flatnonzero(ends)[:150], np.flatnonzero(~ends)[:150]]
rng = np.random.default_rng(0)
sizes = range(20, 201, 20)

with style():
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for ax, (name, vectors) in zip(panels, embeddings.items(), strict=True):
        Z, y = vectors[words[chosen]], ends[chosen]
        true, shuffled = [], []
        for d in sizes:
            true.append(linsep.separate(Z[:, :d], y).separable)
            control = linsep.permutation_test(Z[:, :d], y, n_permutations=9)
            shuffled.append(control.n_separable / 9)
        ax.plot(sizes, true, "o-", color=BLUE, label="-ed or -ing")
        ax.plot(sizes, shuffled, "s--", color=ORANGE, label="shuffled labels")
        counts = [linsep.capacity(len(chosen), d) for d in sizes]
        ax.plot(sizes, counts, ":", color=BLACK, label="all labellings (Cover)")
        ax.set(xlabel="dimensions", ylabel="share separable", title=name)
        print(name, "from", sizes[true.index(True)])
    panels[0].legend(loc=(0.21, 0.38), fontsize="small")

# %%
# Where the blue line is at one and the dashed one at zero, the property is really
# there. FastText has it in fewer dimensions; from 150, where half of all labellings of
# 300 points are separable, a probe that succeeds says nothing of either.
