// Wrong: this is no C++.
It works on my machine, I promise.
